package cluster_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/correlator-go/correlator/gateway/cluster"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/link"
)

// Variables by which this program is told to be a node that owns a server until it is
// killed.
const (
	nodeURL   = "CLUSTER_TEST_NODE_URL"
	nodeLease = "CLUSTER_TEST_NODE_LEASE"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(nodeURL); url != "" {
		if err := beNode(url, os.Getenv(nodeLease)); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	os.Exit(fake.Main(m))
}

// beNode owns a server that answers nothing, and says so on standard output.
func beNode(url, lease string) error {
	d, err := time.ParseDuration(lease)
	if err != nil {
		return err
	}
	n, err := cluster.Join(context.Background(), cluster.Options{URL: url, Node: "doomed", Lease: d})
	if err != nil {
		return err
	}
	if _, err := n.Opener("files", &fake.Server{}, cluster.WayOptions{}).Open(context.Background(), &recorder{}, link.Key{}); err != nil {
		return err
	}
	fmt.Println("owner")
	select {}
}
