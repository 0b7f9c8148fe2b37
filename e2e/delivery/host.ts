/**
 * Plays a program that runs an agent's loop: a real process that its gateway finds as `claude` among the gateway's ancestors. The
 * program connects its stdin and stdout to the gateway. The program restarts a killed gateway, and ends when the gateway ends in
 * another way. The program prints the process id of each gateway on stderr: `gateway <pid>`. With `-p` as the first argument, the
 * program plays a host that a tool of another host starts.
 *
 *   node claude [-p] <gateway command…>
 *   node claude --tool <gateway command…>     below a shell
 */
import { spawn } from 'node:child_process';

const [first, ...rest] = process.argv.slice(2);
const tool = first === '--tool';
const command = first === '-p' || tool ? rest : [first as string, ...rest];

function start(): void {
  const child = tool
    ? spawn('sh', ['-c', '"$@"; exit $?', 'sh', process.execPath, process.argv[1] as string, '-p', ...command], { stdio: 'pipe' })
    : spawn(process.execPath, command, { stdio: 'pipe' });
  if (!tool) process.stderr.write(`gateway ${child.pid}\n`);
  const give = (chunk: Buffer): void => void child.stdin.write(chunk);
  const end = (): void => void child.stdin.end();
  child.stdin.on('error', () => {});
  child.stdout.on('data', (chunk: Buffer) => process.stdout.write(chunk));
  child.stderr.on('data', (chunk: Buffer) => process.stderr.write(chunk));
  process.stdin.on('data', give).once('end', end);
  child.once('close', (code, signal) => {
    process.stdin.off('data', give).off('end', end);
    if (signal === 'SIGKILL' && !tool) start();
    else process.exit(code ?? 1);
  });
}

start();
