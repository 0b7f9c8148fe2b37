// The other process of the row `force`: the model's server, which queues a critical into the agent's database in the middle
// of each first answer and sees when its socket is closed. `cutting-model.ts DATABASE`; is sent the address; sends its URL, then each time.
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
