package auth_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/correlator-go/correlator/gateway/auth"
)

func Example() {
	token, hash := auth.NewToken() // the token for the client, the hash for the file
	tokens, err := auth.NewTokens([]auth.Token{{Name: "alice", Hash: hash}})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
	_, err = tokens.Verify(context.Background(), r)
	fmt.Println(err)
	r.Header.Set("Authorization", "Bearer "+token)
	who, err := tokens.Verify(context.Background(), r)
	fmt.Println(who.Name, err)
	// Output:
	// Unauthorized: a bearer token is wanted
	// alice <nil>
}
