package intake

import _ "embed"

// openapi is the published OpenAPI 3.1 document; a test compares its paths with the routes.
//
//go:embed openapi.json
var openapi []byte
