package mcp

import (
	"github.com/correlator-go/correlator/codec"
)

// refused is a frame's refusal: what the peer is told, and at which step.
type refused struct {
	err *codec.Error
	at  Refusal
}

func refusal(at Refusal, code int64, message string) *refused {
	return &refused{&codec.Error{Code: code, Message: message}, at}
}

// The texts are fixed: nothing that a peer or a handler wrote goes into them.
var (
	refusedParse       = refusal(RefusedFrame, codec.CodeParse, "Parse error")
	refusedInvalid     = refusal(RefusedFrame, codec.CodeInvalidRequest, "Invalid request")
	refusedBatch       = refusal(RefusedFrame, codec.CodeInvalidRequest, "Batches are not supported")
	refusedBatchSize   = refusal(RefusedFrame, codec.CodeInvalidRequest, "Batch is too large")
	refusedTwice       = refusal(RefusedFrame, codec.CodeInvalidRequest, "Duplicate member")
	refusedDeep        = refusal(RefusedDepth, codec.CodeInvalidRequest, "Nested too deep")
	refusedNoParams    = refusal(RefusedMeta, codec.CodeInvalidParams, "Invalid params: params must be an object with _meta")
	refusedNoVersion   = refusal(RefusedMeta, codec.CodeInvalidParams, "Invalid params: _meta has no protocol version")
	refusedNoCaps      = refusal(RefusedMeta, codec.CodeInvalidParams, "Invalid params: _meta has no client capabilities")
	refusedInfo        = refusal(RefusedMeta, codec.CodeInvalidParams, "Invalid params: client info is malformed")
	refusedToken       = refusal(RefusedMeta, codec.CodeInvalidParams, "Invalid params: progress token is malformed")
	refusedLevel       = refusal(RefusedMeta, codec.CodeInvalidParams, "Invalid params: unknown log level")
	refusedIdempotency = refusal(RefusedMeta, codec.CodeInvalidParams, "Invalid params: idempotency key is malformed")
	refusedHeader      = refusal(RefusedMeta, CodeHeaderMismatch, "Header mismatch")
	refusedMethod      = refusal(RefusedMethod, codec.CodeMethodNotFound, "Method not found")
	refusedParams      = refusal(RefusedParams, codec.CodeInvalidParams, "Invalid params")
	refusedTool        = refusal(RefusedParams, codec.CodeInvalidParams, "Unknown tool")
	refusedPrompt      = refusal(RefusedParams, codec.CodeInvalidParams, "Unknown prompt")
	refusedCursor      = refusal(RefusedParams, codec.CodeInvalidParams, "Invalid cursor")
	refusedState       = refusal(RefusedParams, codec.CodeInvalidParams, "Invalid request state")
	refusedInputs      = refusal(RefusedParams, codec.CodeInvalidParams, "Invalid input responses")
	refusedWatch       = refusal(RefusedParams, codec.CodeInvalidParams, "Too many watched resources")
	refusedParamHeader = refusal(RefusedParams, CodeHeaderMismatch, "Header mismatch")
	refusedAgain       = refusal(RefusedPhase, codec.CodeInvalidRequest, "Already initialized")
	refusedEarly       = refusal(RefusedPhase, codec.CodeInvalidRequest, "Not initialized")
	refusedInBatch     = refusal(RefusedPhase, codec.CodeInvalidRequest, "Not allowed in a batch")
)

// What handlers' endings are told as.
var (
	failInternal = &codec.Error{Code: codec.CodeInternal, Message: "Internal error"}
	failTimeout  = &codec.Error{Code: codec.CodeInternal, Message: "Request timed out"}
	failParams   = &codec.Error{Code: codec.CodeInvalidParams, Message: "Invalid params"}
	failInput    = &codec.Error{Code: codec.CodeInternal, Message: "Input was not available"}
	failRounds   = &codec.Error{Code: codec.CodeInternal, Message: "Too many input rounds"}
)

func unsupportedVersion(supported []Revision, requested []byte) *refused {
	data := append([]byte(nil), `{"supported":[`...)
	for i, r := range supported {
		if i > 0 {
			data = append(data, ',')
		}
		data = codec.AppendString(data, string(r))
	}
	data = append(data, `],"requested":`...)
	data = append(append(data, requested...), '}')
	return &refused{&codec.Error{Code: CodeUnsupportedVersion, Message: "Unsupported protocol version", Data: data}, RefusedMeta}
}

func missingCapability(era Revision, missing capabilities) *refused {
	data := append([]byte(nil), `{"requiredCapabilities":`...)
	data = append(missing.append(data), '}')
	code := int64(codec.CodeInvalidParams) // the older era has no code of its own
	if era.IsModern() {
		code = CodeMissingCapability
	}
	return &refused{&codec.Error{Code: code, Message: "Missing required client capability", Data: data}, RefusedParams}
}

// notFound is the answer for the resource whose URI is the JSON text uri.
func notFound(era Revision, uri []byte) *codec.Error {
	code := int64(codec.CodeInvalidParams)
	if !era.IsModern() {
		code = CodeResourceNotFound
	}
	data := append([]byte(nil), `{"uri":`...)
	return &codec.Error{Code: code, Message: "Resource not found", Data: append(append(data, uri...), '}')}
}
