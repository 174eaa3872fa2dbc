// A producer of Apache's Go client with its defaults that never stops sending: one end of bench/restart.py.
//
//	go run . NAMESERVER TOPIC
//
// A line for each send, once it has ended: milliseconds since 1970, a blank, "ok" or what went wrong.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
)

const pause = 20 * time.Millisecond

func main() {
	sending, err := rocketmq.NewProducer(
		producer.WithNameServer([]string{os.Args[1]}), producer.WithGroupName("P-onward"))
	if err == nil {
		err = sending.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for {
		said := "ok"
		result, err := sending.SendSync(context.Background(), primitive.NewMessage(os.Args[2], make([]byte, 100)))
		if err != nil {
			said, _, _ = strings.Cut(err.Error(), "\n")
		} else if result.Status != primitive.SendOK {
			said = fmt.Sprint("status ", result.Status)
		}
		fmt.Println(time.Now().UnixMilli(), said)
		time.Sleep(pause)
	}
}
