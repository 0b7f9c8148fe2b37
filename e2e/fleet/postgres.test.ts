import { describe } from 'vitest';
import { startPostgres } from '../stores/postgres-server.ts';
import { proves } from '../verifies.ts';
import { fleetScenes } from './scenes.ts';

let schemas = 0;

describe('a fleet on PostgreSQL', () => {
  proves('fleet:one', 'fleet:node-killed', 'fleet:follower');
  fleetScenes(async () => {
    const server = await startPostgres({ settings: { max_connections: '200' } });
    return { url: () => `${server.url}?schema=fleet${schemas++}`, remove: server.remove };
  });
});
