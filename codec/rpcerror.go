package codec

// Error is what the error member of a response carries.
type Error struct {
	Code       int64
	Message    string
	Data       []byte
	Raw        []byte
	RawCode    []byte
	Structured bool
}

func (e *Error) Error() string        { return e.Message }
func (e *Error) Category() string     { return "" }
func (e *Error) Is(target error) bool { return false }

func ErrorFailure(response []byte) (message, category string, object []byte, ok bool) {
	return "", "", nil, false
}
func ErrorText(errorMember []byte) string { return "" }
func ReadError(errorMember []byte) *Error { return nil }
