import { expect, test } from 'vitest';
import { asked, type Asked } from './asked.ts';

/** Collects the requests, with functions that answer them, and all reports. */
function stage(): {
  readonly question: Asked;
  readonly answers: ((value: string) => Promise<void>)[];
  readonly fails: ((error: string) => Promise<void>)[];
  readonly told: string[];
} {
  const answers: ((value: string) => Promise<void>)[] = [];
  const fails: ((error: string) => Promise<void>)[] = [];
  const told: string[] = [];
  /** Resolves when the work that can run now has run. */
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const question = asked<string>(
    () =>
      new Promise((resolve, reject) => {
        answers.push((value) => (resolve(value), settled()));
        fails.push((error) => (reject(new Error(error)), settled()));
      }),
    {
      onAsk: () => told.push('asks'),
      onAnswer: (value) => told.push(value),
      onProblem: (error) => told.push(String(error)),
    },
  );
  return { question, answers, fails, told };
}

test('a call during a request leads to one more request afterwards, and each answer is used', async () => {
  const { question, answers, told } = stage();
  question.again();
  for (let times = 0; times < 100; times++) question.again();
  expect(answers).toHaveLength(1);
  await answers[0]?.('one');
  expect(told).toEqual(['asks', 'one', 'asks']);
  await answers[1]?.('two');
  expect(told).toEqual(['asks', 'one', 'asks', 'two']);
});

test('the answer to an overtaken request is dropped, and the request is sent again', async () => {
  const { question, answers, told } = stage();
  question.again();
  question.overtake();
  await answers[0]?.('old');
  await answers[1]?.('new');
  expect(told).toEqual(['asks', 'asks', 'new']);
  question.overtake();
  expect(answers).toHaveLength(2);
});

test('a failure is reported, unless the request was sent again; after the end nothing is reported', async () => {
  const { question, answers, fails, told } = stage();
  question.again();
  await fails[0]?.('no server');
  question.again();
  question.again();
  await fails[1]?.('no server yet');
  expect(told).toEqual(['asks', 'Error: no server', 'asks', 'asks']);
  question.end();
  await answers[2]?.('late');
  question.again();
  expect(told).toHaveLength(4);
  expect(answers).toHaveLength(3);
});
