/** Notices appends of other processes by PostgreSQL's NOTIFY. A pooler does not pass NOTIFY on. */
import type { Listen } from '../wakeups.ts';
import type { Database } from './database.ts';
import type { Driver } from './driver.ts';

export const listenWith =
  (driver: Driver, db: Database): Listen =>
  ({ head, ready, lost }) => {
    const client = new driver.Client({
      connectionString: db.url,
      application_name: 'earpiece listener',
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
    });
    const end = (): void => void client.end().catch(() => {});
    const broke = (): void => {
      lost();
      end();
    };
    client.on('error', broke);
    client.on('end', broke);
    client.on('notification', ({ payload }) => head(Number(payload)));
    client
      .connect()
      .then(() => client.query(`LISTEN "${db.channel}"`))
      .then(ready)
      .catch(broke);
    return end;
  };
