import type { EngineName } from '../roles.ts';
import type { Engine } from './engine.ts';
import { startNatsServers } from './nats.ts';
import { startPostgresPair } from './postgres.ts';
import { startSqlite } from './sqlite.ts';

export async function startEngine(name: EngineName): Promise<Engine> {
  switch (name) {
    case 'sqlite':
      return startSqlite();
    case 'postgres':
      return startPostgresPair();
    case 'nats':
      return startNatsServers();
  }
}
