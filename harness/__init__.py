"""rmq-harness: a conformance and test harness for Apache RocketMQ's remoting protocol."""
