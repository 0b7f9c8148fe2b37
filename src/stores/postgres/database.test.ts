import { EventEmitter } from 'node:events';
import pg from 'pg';
import { expect, it } from 'vitest';
import { addressOf } from './address.ts';
import { Database } from './database.ts';
import { closingClient, type Driver } from './driver.ts';

it('a server that ends a connection before a call uses it does not end the process', () => {
  const client = new (closingClient(pg))();
  expect(() => client.emit('error', new Error('terminating connection'))).not.toThrow();
});

it('a server that ends a connection after the call has failed does not end the process', async () => {
  const client = Object.assign(new EventEmitter(), {
    query: () => Promise.reject(Object.assign(new Error('the server is gone'), { code: '42P01' })),
    release: () => {},
  });
  class Pool extends EventEmitter {
    connect = (): Promise<typeof client> => Promise.resolve(client);
  }
  const driver = {
    Pool,
    Client: EventEmitter,
    types: { builtins: { INT8: 20 }, getTypeParser: () => String },
  } as unknown as Driver;
  const db = new Database(driver, addressOf('postgres://ear@a/db'), 1);
  await expect(db.read(undefined, 'SELECT 1')).rejects.toThrow('the server is gone');
  // An error event without a listener is thrown.
  expect(() => client.emit('error', new Error('terminating connection'))).not.toThrow();
});
