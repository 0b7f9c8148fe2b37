import { describe } from 'vitest';
import { startNats } from '../stores/nats-server.ts';
import { proves } from '../verifies.ts';
import { fleetScenes } from './scenes.ts';

let stores = 0;

describe('a fleet on JetStream', () => {
  proves('fleet:one', 'fleet:node-killed', 'fleet:follower');
  fleetScenes(async () => {
    const servers = await startNats(1);
    return { url: () => `${servers.url}/fleet${stores++}`, remove: servers.remove };
  });
});
