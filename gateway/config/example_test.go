package config_test

import (
	"fmt"
	"os"

	"github.com/correlator-go/correlator/gateway/config"
)

func ExampleParse() {
	c, err := config.Parse("gateway.yaml", []byte(`
upstreams:
  files:
    command: [npx, -y, "@modelcontextprotocol/server-filesystem", /srv]
    isolation: session
    deadlines: {total: 2m, idle: 30s}
`), os.LookupEnv)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Names(), c.Upstreams["files"].Deadlines.Total, c.Listen[0].Address)

	_, err = config.Parse("gateway.yaml", []byte(`
upstreams:
  files:
    command: npx -y server
    isolaton: shared
`), os.LookupEnv)
	fmt.Println(err)
	// Output:
	// [files] 2m0s http://127.0.0.1:8808/mcp
	// gateway.yaml:4: upstreams.files.command: must be a list, such as [one, two]
	// gateway.yaml:5: upstreams.files.isolaton: there is no such member; is it isolation?
}
