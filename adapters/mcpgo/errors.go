package mcpgo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// failed is the error of a call that was not answered, with what mcp-go's own
// transport would have said in front.
func failed(ctx context.Context, err error) error {
	switch ended := ctx.Err(); {
	case errors.Is(err, conn.ErrClosed):
		return closedError(err)
	case ended != nil && !errors.Is(err, ended):
		return fmt.Errorf("%w: %w", ended, err)
	}
	return err
}

// closedError is transport.ErrTransportClosed with the reason; nil for none.
func closedError(why error) error {
	if why == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", transport.ErrTransportClosed, why)
}

// details is a server's error as mcp-go has it.
func details(e *codec.Error) *mcp.JSONRPCErrorDetails {
	d := &mcp.JSONRPCErrorDetails{Code: int(max(math.MinInt, min(math.MaxInt, e.Code))), Message: e.Message}
	if len(e.Data) > 0 {
		// The scan has validated it.
		_ = json.Unmarshal(e.Data, &d.Data)
	}
	return d
}
