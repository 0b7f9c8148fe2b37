/**
 * Prints the agents that a program in a separate PID namespace finds. The program has the same database and host name as the
 * agents outside of the namespace.
 */
import { openEarpiece } from '../../src/library/index.ts';
import { isAlive, systemProcesses, type Process } from '../../src/inbox/index.ts';
import type { Owner } from '../../src/core/records.ts';

const [db = '', owner = ''] = process.argv.slice(2);
await using ear = await openEarpiece({ db, cwd: '/', env: { HOME: '/nowhere', EARPIECE_PROJECT: 'shop' } });
const beside = ear.conversation('coder#beside');
const offer = await beside.offer();
const outside: Process | undefined = systemProcesses.get((JSON.parse(owner) as Owner).pid);
console.log(
  JSON.stringify({
    machine: systemProcesses.machine,
    seesTheProcess: outside !== undefined,
    alive: isAlive(JSON.parse(owner) as Owner) ?? null,
    active: (await ear.active()).map(({ address }) => address).toSorted(),
    offered: offer?.ids ?? [],
  }),
);
