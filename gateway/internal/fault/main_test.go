package fault_test

import (
	"os"
	"testing"

	"github.com/correlator-go/correlator/gateway/internal/fake"
)

func TestMain(m *testing.M) { os.Exit(fake.Main(m)) }
