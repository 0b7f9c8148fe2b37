// Runs the second process of the row `force`: a model server that measures when its socket is closed. In the middle of the first
// answer of each turn, this process queues a critical notification into the agent's database. `cutting-model.ts DATABASE` sends
// the URL of the server, receives the agent's addresses, and sends each measured time.
import { DEFAULT_POLICY } from '../../src/core/policy.ts';
import { Inbox } from '../../src/inbox/index.ts';
import { openSqliteStore } from '../../src/stores/index.ts';
import { cuttingModel } from './cut.ts';

const [db = ''] = process.argv.slice(2);
const inbox = new Inbox({ store: await openSqliteStore({ path: db }), policies: { policy: () => DEFAULT_POLICY } });
let to = '';
const model = await cuttingModel(
  inbox,
  () => to,
  (ms) => process.send?.({ ms }),
);
process.on('message', (address: string) => {
  to = address;
  process.send?.({ ready: true });
});
process.once('disconnect', () => process.exit());
process.send?.({ url: model.url });
