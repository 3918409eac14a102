// Command golang times OpenShift's own template library on the inputs and by the clock that the Rust side uses.
//
// It is a worker of the program in ../src: orders come as lines on stdin, answers go as lines to stdout.
//
//	show FILE     the processed template, in one line
//	run FILE N    nanoseconds of wall time and of processor time that N times decode, process, encode took
//
// Whatever a server would do once per process (reading the file, seeding the generator) is outside the clock,
// which favours this side: OpenShift's server seeds a generator for every request.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"math/rand"
	"os"
	"syscall"
	"time"

	templatev1 "github.com/openshift/api/template/v1"
	"github.com/openshift/library-go/pkg/template/generator"
	"github.com/openshift/library-go/pkg/template/templateprocessing"
)

func main() {
	log.SetFlags(0)
	seed := rand.New(rand.NewSource(time.Now().UnixNano()))
	processor := templateprocessing.NewProcessor(map[string]generator.Generator{
		"expression": generator.NewExpressionValueGenerator(seed),
	})

	orders := bufio.NewScanner(os.Stdin)
	for orders.Scan() {
		if err := obey(processor, orders.Text()); err != nil {
			log.Fatalf("%s: %v", orders.Text(), err)
		}
	}
}

func obey(processor *templateprocessing.Processor, order string) error {
	var verb, file string
	times := 1
	if n, err := fmt.Sscan(order, &verb, &file, &times); n < 2 {
		return err
	}
	body, err := os.ReadFile(file)
	if err != nil {
		return err
	}

	switch verb {
	case "show":
		answer, err := process(processor, body)
		if err != nil {
			return err
		}
		fmt.Printf("%s\n", answer)
	case "run":
		wall, cpu := time.Now(), processorTime()
		for range times {
			if _, err := process(processor, body); err != nil {
				return err
			}
		}
		fmt.Println(time.Since(wall).Nanoseconds(), (processorTime() - cpu).Nanoseconds())
	default:
		return fmt.Errorf("unknown order")
	}
	return nil
}

func process(processor *templateprocessing.Processor, body []byte) ([]byte, error) {
	template := &templatev1.Template{}
	if err := json.Unmarshal(body, template); err != nil {
		return nil, err
	}
	if errs := processor.Process(template); len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	return json.Marshal(template)
}

// processorTime is that of all threads, so that the garbage collector's are counted.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
