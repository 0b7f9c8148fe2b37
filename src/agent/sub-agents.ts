/**
 * Makes an agent a background tool of another agent. The sub-agent has a separate address, `project/<agent>.<id>`, and its last
 * message is the tool's result. Each of the two agents gets only its own notifications.
 */
import type { ConversationId, LogKey } from '../core/address.ts';
import { EarpieceError } from '../core/errors.ts';
import { ToolFailure, type StatefulTool } from '../handles/index.ts';
import type { Agent } from './agent.ts';

export type SubAgent = { readonly agent: Agent; close(): Promise<void> };

export type AgentToolOptions = {
  /** The log of the agent that has the tool. */
  readonly log: LogKey;
  /** Opens the agent for a task, at a new address that no other agent has. */
  readonly open: (address: string) => Promise<SubAgent>;
};

export const agentTool = ({ log, open }: AgentToolOptions): StatefulTool => ({
  name: 'agent',
  isAgent: true,
  description:
    'Gives a task to another agent with the same tools in a separate conversation. The agent cannot see this conversation: include all facts. ' +
    'The result is its last message. In the background ("action": "spawn") you are notified of the end; `apply` sends a message meanwhile.',
  parameters: {
    properties: { task: { type: 'string', description: 'The task, and the expected answer.' } },
    required: ['task'],
  },
  actions: ['fetch', 'apply', 'abort'],
  check: ({ task }) =>
    typeof task === 'string' && task.trim() !== ''
      ? undefined
      : `task must be a text that is not blank, got ${JSON.stringify(task)}`,

  async run(args, handle) {
    let working: Agent | undefined;
    const report = new Report();
    handle.serve({
      read: () => ({ content: report.text }),
      input: ({ text }) => {
        if (working?.reply(text) === true) return;
        throw new EarpieceError(
          'bad_argument',
          `the agent ${working === undefined ? 'is still starting and did not get the message: send the message again' : 'has ended and did not get the message: fetch the result'}`,
        );
      },
    });
    const seat = await open(`${log}.${handle.id}#${handle.uid as ConversationId}`);
    const { agent } = seat;
    const events = agent.events();
    const listening = (async () => {
      for await (const event of events) {
        if (event.type === 'text') report.say(event.delta);
        else if (event.type === 'tool_started') report.call(event.name, JSON.stringify(event.args));
        else continue;
        if (event.type === 'tool_started') handle.progress(report.last);
        handle.produced();
      }
    })();
    try {
      working = agent;
      const { how, text, error } = await agent.send(args['task'] as string, { signal: handle.signal, author: log });
      if (how !== 'complete') throw new ToolFailure(error ?? 'the turn of the agent was stopped', { text });
      return { text: text.trim() === '' ? '(the agent ended without a message)' : text };
    } finally {
      events.close();
      await listening;
      await seat.close();
    }
  },
});

const CALL_CHARS = 200;
/** The maximum number of characters of a sub-agent's report that a fetch shows. */
const KEPT_CHARS = 20_000;

/** The sub-agent's words, with one line for each of its calls. Only the newest part is kept. */
class Report {
  text = '';
  last = '';

  say(delta: string): void {
    this.#add(delta);
  }

  call(name: string, args: string): void {
    this.last = `${name} ${args.length > CALL_CHARS ? `${args.slice(0, CALL_CHARS).toWellFormed()}…` : args}`;
    this.#add(`${this.text === '' || this.text.endsWith('\n') ? '' : '\n'}[${this.last}]\n`);
  }

  #add(more: string): void {
    this.text = (this.text + more).slice(-KEPT_CHARS).toWellFormed();
  }
}
