// Sends jobs from a separate process: `sender.ts SIDE URL`. Each message of the parent process is a number of jobs to send, at
// most eight at the same time.
import { SIDES, type SideName } from './sides.ts';

const [name, url = ''] = process.argv.slice(2);
const { send, close } = await SIDES[name as SideName].sender(url);

process.on('message', (count: number) => {
  let left = count;
  const one = async (): Promise<void> => {
    while (left-- > 0) await send(String(process.hrtime.bigint()));
  };
  void Promise.all(Array.from({ length: 8 }, one));
});
process.once('disconnect', () => void close().finally(() => process.exit()));
process.send?.('ready');
