import {
  AGENT_FAULT_POINTS,
  ARCHIVE_FAULT_POINTS,
  armFaults,
  FAULT_POINTS,
  FOLLOW_FAULT_POINTS,
  UNFOLLOW_FAULT_POINTS,
  MOVE_FAULT_POINTS,
  type FaultPoint,
} from '../core/faults.ts';
import { didYouMean, EarpieceError } from '../core/errors.ts';

/**
 * Arms the fault that the environment names, for entry points. With `EARPIECE_FAULT=point:n`, the process kills itself when it
 * reaches the point for the n-th time (default: the first), as in a crash. With `point:n:throw`, the point throws an error.
 * Without the variable, no fault is armed. Throws `bad_argument` for an unknown point, an invalid number, another action
 * or a further part.
 */
export function armFaultsFromEnv(env: Readonly<Record<string, string | undefined>> = process.env): void {
  const wanted = env['EARPIECE_FAULT'];
  if (wanted === undefined || wanted === '') return;
  const [point = '', times = '1', how = 'kill', ...more] = wanted.split(':');
  let left = Number(times);
  const points: readonly string[] = [
    ...FAULT_POINTS,
    ...AGENT_FAULT_POINTS,
    ...FOLLOW_FAULT_POINTS,
    ...UNFOLLOW_FAULT_POINTS,
    ...MOVE_FAULT_POINTS,
    ...ARCHIVE_FAULT_POINTS,
  ];
  if (!points.includes(point)) {
    const near = didYouMean(point, points);
    throw new EarpieceError(
      'bad_argument',
      `EARPIECE_FAULT=${wanted}: no such fault point${near === undefined ? '' : `, did you mean ${near}`}; the fault points are ${points.join(', ')}`,
    );
  }
  if (!Number.isInteger(left) || left < 1)
    throw new EarpieceError(
      'bad_argument',
      `EARPIECE_FAULT=${wanted}: ${JSON.stringify(times)} must be a whole number of at least 1; write ${point}:1`,
    );
  if (how !== 'kill' && how !== 'throw')
    throw new EarpieceError('bad_argument', `EARPIECE_FAULT=${wanted}: ${JSON.stringify(how)} must be kill or throw`);
  if (more.length > 0)
    throw new EarpieceError(
      'bad_argument',
      `EARPIECE_FAULT=${wanted}: ${JSON.stringify(`:${more.join(':')}`)} must not follow the action; write ${point}:${times}:${how}`,
    );
  armFaults((at: FaultPoint) => {
    if (at !== point || --left !== 0) return;
    if (how === 'throw') throw new Error(`EARPIECE_FAULT=${wanted}`);
    process.kill(process.pid, 'SIGKILL');
  });
}
