// A producer of Apache's own client with its defaults that never stops sending: one end of bench/restart.py.
//
//   java -cp 'jars/*' SendsOnward.java NAMESERVER TOPIC
//
// A line for each send, once it has ended: milliseconds since 1970, a blank, "ok" or what went wrong.

import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;

public class SendsOnward {
    static final long PAUSE_MS = 20;

    public static void main(String[] words) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("P-onward");
        producer.setNamesrvAddr(words[0]);
        producer.start();
        while (true) {
            String said;
            try {
                said = producer.send(new Message(words[1], new byte[100])).getSendStatus().name();
                said = said.equals("SEND_OK") ? "ok" : said;
            } catch (Exception problem) {
                said = String.valueOf(problem.getMessage()).lines().findFirst().orElse("");
            }
            System.out.println(System.currentTimeMillis() + " " + said);
            Thread.sleep(PAUSE_MS);
        }
    }
}
