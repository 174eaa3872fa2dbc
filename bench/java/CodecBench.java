import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/**
 * Decodes and encodes the frames given on standard input with Apache's RemotingCommand, on one thread, after warm-up.
 *
 * <p>Input: one line per frame, NAME HEX. Output: one line per frame, NAME DECODE ENCODE in nanoseconds per operation, the
 * best of ROUNDS rounds. Time is the processor time of the one thread, so that a busy machine disturbs little. Decoding starts from the bytes of a frame behind its length word, as
 * NettyDecoder does; encoding is the path of NettyEncoder, into a pooled buffer that is used again.
 */
public final class CodecBench {

    private static final int WARM_UP_OPERATIONS = 1_000_000;
    private static final long ROUND_NANOS = 200_000_000L;
    private static final int ROUNDS = 7;

    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

    private static long sink;

    private interface Operation {
        int run() throws Exception;
    }

    private CodecBench() {
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, "US-ASCII");
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "US-ASCII"));
        List<String> names = new ArrayList<>();
        List<Operation> operations = new ArrayList<>();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split(" ");
            byte[] payload = bytes(parts[1].substring(8));
            names.add(parts[0]);
            operations.add(() -> RemotingCommand.decode(ByteBuffer.wrap(payload)).getOpaque());
            RemotingCommand command = RemotingCommand.decode(ByteBuffer.wrap(payload));
            ByteBuf buffer = ByteBufAllocator.DEFAULT.ioBuffer(payload.length + 64);
            operations.add(() -> {
                buffer.clear();
                command.fastEncodeHeader(buffer);
                if (command.getBody() != null) {
                    buffer.writeBytes(command.getBody());
                }
                return buffer.writerIndex();
            });
        }
        for (Operation operation : operations) {
            for (int index = 0; index < WARM_UP_OPERATIONS; index++) {
                sink += operation.run();
            }
        }
        for (int index = 0; index < names.size(); index++) {
            out.println(names.get(index) + " " + best(operations.get(2 * index)) + " " + best(operations.get(2 * index + 1)));
        }
        System.err.println("kept the results alive: " + sink);
    }

    private static double best(Operation operation) throws Exception {
        double best = Double.MAX_VALUE;
        for (int round = 0; round < ROUNDS; round++) {
            best = Math.min(best, measured(operation, ROUND_NANOS));
        }
        return best;
    }

    private static double measured(Operation operation, long nanos) throws Exception {
        long count = 0;
        long start = CLOCK.getCurrentThreadCpuTime();
        long end = start;
        while (end - start < nanos) {
            for (int index = 0; index < 1000; index++) {
                sink += operation.run();
            }
            count += 1000;
            end = CLOCK.getCurrentThreadCpuTime();
        }
        return (end - start) / (double) count;
    }

    private static byte[] bytes(String hex) {
        byte[] bytes = new byte[hex.length() / 2];
        for (int index = 0; index < bytes.length; index++) {
            bytes[index] = (byte) Integer.parseInt(hex.substring(2 * index, 2 * index + 2), 16);
        }
        return bytes;
    }
}
