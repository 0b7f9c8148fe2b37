// Installs the peers of the bench: `node scripts/peers.ts [peer…]` installs the missing peers (default: all).
import { install } from '../bench/peers/install.ts';
import { peerNames, type PeerName } from '../bench/peers/pins.ts';

const names = process.argv.slice(2);
const unknown = names.find((name) => !peerNames.includes(name as PeerName));

if (unknown === undefined) for (const peer of names.length > 0 ? (names as PeerName[]) : peerNames) show(peer);
else {
  console.error(`unknown peer "${unknown}"\nusage: node scripts/peers.ts [${peerNames.join('|')} …]   (default: all)`);
  process.exitCode = 2;
}

function show(peer: PeerName): void {
  try {
    const { kind, folder } = install(peer);
    console.log(`${peer} ${kind} in ${folder}`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
