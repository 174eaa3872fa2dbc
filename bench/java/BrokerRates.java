// Rates of Apache's own client against a Broker: the client's end of bench/broker.py.
//
//   java -cp 'jars/*' BrokerRates.java
//
// One command a line on standard input, the answer is messages per second on a line of its own:
//   send NAMESERVER TOPIC SECONDS THREADS BYTES    sends, each of which waits for its answer
//   consume NAMESERVER TOPIC COUNT GROUP           COUNT messages, from the first on, by a new group

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;

public class BrokerRates {
    static final long PATIENCE_SECONDS = 120;

    public static void main(String[] none) throws Exception {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] words = line.split(" ");
            double[] said = words[0].equals("send") ? send(words) : consume(words);
            System.out.println(String.format("%.1f %.0f", said[0], said[1]));
        }
        System.exit(0); // threads of the client go on for a while
    }

    static double[] send(String[] words) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("P-" + words[2]);
        producer.setNamesrvAddr(words[1]);
        producer.setInstanceName(words[2] + System.nanoTime());
        producer.setSendMsgTimeout(30_000);
        producer.setCompressMsgBodyOverHowmuch(1 << 22);
        producer.start();
        byte[] body = new byte[Integer.parseInt(words[5])];
        producer.send(new Message(words[2], body));
        AtomicLong sent = new AtomicLong();
        List<Thread> threads = new ArrayList<>();
        List<Exception> problems = new ArrayList<>();
        long start = System.nanoTime();
        long end = start + (long) (Double.parseDouble(words[3]) * 1e9);
        for (int number = 0; number < Integer.parseInt(words[4]); number++) {
            Thread thread = new Thread(() -> {
                try {
                    while (System.nanoTime() < end) {
                        if (producer.send(new Message(words[2], body)).getSendStatus() != SendStatus.SEND_OK) {
                            throw new IllegalStateException("not stored as it should be");
                        }
                        sent.incrementAndGet();
                    }
                } catch (Exception problem) {
                    problems.add(problem);
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        producer.shutdown();
        if (!problems.isEmpty()) {
            throw problems.get(0);
        }
        return new double[] {sent.get() / seconds, sent.get() + 1};
    }

    static double[] consume(String[] words) throws Exception {
        long count = Long.parseLong(words[3]);
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(words[4]);
        consumer.setNamesrvAddr(words[1]);
        consumer.setInstanceName(words[4]);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setConsumeMessageBatchMaxSize(32);
        consumer.subscribe(words[2], "*");
        AtomicLong came = new AtomicLong();
        AtomicLong first = new AtomicLong();
        CountDownLatch all = new CountDownLatch(1);
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            first.compareAndSet(0, System.nanoTime());
            if (came.addAndGet(messages.size()) >= count) {
                all.countDown();
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        boolean isDone = all.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
        double seconds = (System.nanoTime() - first.get()) / 1e9;
        consumer.shutdown();
        if (!isDone) {
            throw new IllegalStateException("only " + came.get() + " of " + count + " messages came");
        }
        return new double[] {came.get() / seconds, came.get()};
    }
}
