package vector

//go:generate go -C ../../tools run ./vectorasm -pkg vector -out ../internal/vector/vector_amd64.s -stubs ../internal/vector/stubs_amd64.go
