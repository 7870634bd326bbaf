package report

import (
	"fmt"
	"io"
	"math"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/correlator-go/correlator/internal/load/tally"
)

// ServiceTag marks the lines of a log that are service times. Those without a
// tag, which is what HdrHistogram's tools read unless they are told a tag, are
// response times.
const ServiceTag = "service"

// WriteLog writes rows that kept their histograms as a log of HdrHistogram's
// format 1.3 (.hlog): for each row a line of response times and a line of service
// times, in nanoseconds, stamped in seconds since began. Rows of the warm-up in
// which nothing was measured are left out, since they would look like silence.
func WriteLog(w io.Writer, began time.Time, rows []tally.Row) error {
	log := hdr.NewHistogramLogWriter(w)
	log.SetBaseTime(began.UnixMilli())
	// The writer's own methods for both times cut them to whole seconds.
	seconds := float64(began.UnixMilli()) / 1000
	tool := thisTool()
	for _, comment := range []string{
		fmt.Sprintf("[Logged with %s %s]", tool.Name, tool.Version),
		fmt.Sprintf("[Histogram log format version %s]", hdr.HISTOGRAM_LOG_FORMAT_VERSION),
		fmt.Sprintf("[Nanoseconds; Interval_Max in milliseconds. No tag: response time; Tag=%s: service time]", ServiceTag),
		fmt.Sprintf("[StartTime: %.3f (seconds since epoch), %s]", seconds, began.UTC().Format(time.RFC3339)),
		fmt.Sprintf("[BaseTime: %.3f (seconds since epoch)]", seconds),
	} {
		if err := log.OutputComment(comment); err != nil {
			return err
		}
	}
	if err := log.OutputLegend(); err != nil {
		return err
	}
	for _, row := range rows {
		if row.Kept.Response == nil || row.Warm && row.Response.Count == 0 {
			continue
		}
		from, to := began.UnixMilli()+milliseconds(row.Start), began.UnixMilli()+milliseconds(row.Start+row.Length)
		for tag, h := range []*hdr.PackedHistogram{row.Kept.Response, row.Kept.Service} {
			h = h.Clone() // its stamps are not the row's
			h.SetStartTimeMs(from)
			h.SetEndTimeMs(to)
			if tag > 0 {
				h.SetTag(ServiceTag)
			}
			if err := log.OutputIntervalPackedHistogram(h); err != nil {
				return err
			}
		}
	}
	return nil
}

func milliseconds(seconds float64) int64 { return int64(math.Round(seconds * 1000)) }
