package mcp

type tool struct{ ServerTool }
type resource struct{ ServerResource }
type template struct{ ServerTemplate }
type prompt struct{ ServerPrompt }
