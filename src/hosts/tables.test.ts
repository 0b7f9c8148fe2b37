/**
 * Tests the tables of the hosts other than Claude Code. The inputs are shortened, and come from the host itself or from its
 * documentation. The expected outputs have the format that the host reads.
 */
import { describe, expect, it } from 'vitest';
import type { CallResult } from '../inbox/index.ts';
import { HOOK_HOSTS } from './index.ts';
import type { Answer, Moment } from './moment.ts';
import type { Input } from './input.ts';

const hostOf = (name: string) => {
  const host = HOOK_HOSTS.find((each) => each.name === name);
  if (host === undefined) throw new Error(`no table for ${name}`);
  return host;
};
const momentOf = (name: string, input: Input): Moment | undefined => hostOf(name).parse(input)?.moment;
const said = (name: string, answer: Answer, input: Input): unknown => {
  const { stdout, ...rest } = hostOf(name).format(answer, input);
  return Object.keys(rest).length === 0 && stdout.startsWith('{') ? (JSON.parse(stdout) as unknown) : { stdout, ...rest };
};

const tell: Answer = { kind: 'tell', text: 'WORDS' };
const deny: Answer = { kind: 'deny', text: 'WORDS' };
const hold: Answer = { kind: 'hold', text: 'WORDS' };

/** Returns the input for an event in Claude Code's format, which several hosts share. */
const common = (event: string, more: Input = {}): Input => ({
  session_id: 's-1',
  cwd: '/work',
  transcript_path: '/home/chat.jsonl',
  hook_event_name: event,
  ...more,
});

const SOME_TEXT = expect.any(String) as string;
const CALLED: CallResult = { call: SOME_TEXT, contains: expect.any(Function) as CallResult['contains'] };

const MOMENTS: Readonly<Record<string, readonly (readonly [Input, Moment | undefined])[]>> = {
  codex: [
    [common('SessionStart', { source: 'startup' }), { kind: 'session_start' }],
    [common('SessionStart', { source: 'compact' }), { kind: 'session_start', compacted: true }],
    [common('UserPromptSubmit', { prompt: 'go' }), { kind: 'prompt' }],
    [common('PreToolUse', { tool_name: 'Bash' }), { kind: 'before_tool', tool: 'Bash' }],
    [common('PostToolUse', { tool_name: 'mcp__files__read' }), { kind: 'after_tool', tool: 'mcp__files__read' }],
    [common('Stop', { stop_hook_active: true }), { kind: 'turn_end', held: true }],
    [common('SessionEnd'), { kind: 'session_end' }],
    [common('PreCompact'), undefined],
  ],
  gemini: [
    [common('SessionStart', { source: 'startup' }), { kind: 'session_start' }],
    [common('BeforeAgent', { prompt: 'go' }), { kind: 'prompt' }],
    [common('BeforeTool', { tool_name: 'write_file' }), { kind: 'before_tool', tool: 'write_file', call: SOME_TEXT }],
    [
      common('AfterTool', { tool_name: 'write_file', tool_response: { llmContent: 'done' } }),
      { kind: 'after_tool', tool: 'write_file', results: [CALLED] },
    ],
    // Gemini drops the context of a hook after a failing tool, so such an event must not carry notifications.
    [
      common('AfterTool', { tool_name: 'read_file', tool_response: { error: { message: 'none' } } }),
      { kind: 'after_tool', tool: 'read_file', takesNoText: true, results: [CALLED] },
    ],
    [common('AfterAgent', { stop_hook_active: false }), { kind: 'turn_end', held: false }],
    // PreCompress fires before each model request, even if Gemini does not compress.
    [common('PreCompress', { trigger: 'auto' }), { kind: 'asked' }],
    [common('SessionEnd'), { kind: 'session_end' }],
  ],
  qwen: [
    [common('SessionStart', { source: 'startup' }), { kind: 'session_start' }],
    [common('UserPromptSubmit', { prompt: 'go', submitted_prompt: 'go' }), { kind: 'prompt' }],
    // Over ACP, in vim mode and after a rewind, Qwen Code omits the field `submitted_prompt`.
    [common('UserPromptSubmit', { prompt: 'go' }), { kind: 'prompt' }],
    // Qwen Code also fires UserPromptSubmit before a model request with tool results. Qwen Code's transcript would lack a text
    // that a hook adds to such a request. So the moment is `asked`, at which Earpiece adds no text.
    [common('UserPromptSubmit', { prompt: '' }), { kind: 'asked' }],
    // Qwen Code also fires UserPromptSubmit for the text with which Earpiece has held the turn.
    [common('UserPromptSubmit', { prompt: '[ep k7f3] 1 notification, automatic\nWORDS' }), { kind: 'asked' }],
    [common('UserPromptSubmit', { prompt: '{"ep":"k7f3","notifications":[]}' }), { kind: 'asked' }],
    [common('PreToolUse', { tool_name: 'run_shell_command' }), { kind: 'before_tool', tool: 'run_shell_command' }],
    // Qwen Code fires PostToolBatch after each call of a batch.
    [common('PostToolBatch', { tool_calls: [{ tool_name: 'write_file' }] }), { kind: 'after_tool', tool: 'write_file' }],
    [common('Stop', { stop_hook_active: false }), { kind: 'turn_end', held: false }],
  ],
  cursor: [
    [{ ...CURSOR('sessionStart') }, { kind: 'session_start' }],
    [
      { ...CURSOR('preToolUse'), tool_name: 'Shell' },
      { kind: 'before_tool', tool: 'Shell' },
    ],
    [
      { ...CURSOR('postToolUse'), tool_name: 'Shell' },
      { kind: 'after_tool', tool: 'Shell' },
    ],
    [
      { ...CURSOR('stop'), status: 'completed', loop_count: 1 },
      { kind: 'turn_end', held: true },
    ],
    [{ ...CURSOR('stop'), status: 'aborted' }, undefined],
    [{ ...CURSOR('beforeSubmitPrompt'), prompt: 'go' }, undefined],
  ],
  copilot: [
    // Copilot ignores the output of these two hooks.
    [common('SessionStart'), undefined],
    [common('UserPromptSubmit'), undefined],
    [common('PreToolUse', { tool_name: 'bash' }), { kind: 'before_tool', tool: 'bash' }],
    [common('PostToolUseFailure', { tool_name: 'bash' }), { kind: 'after_tool', tool: 'bash' }],
    [common('Stop', { stop_reason: 'end_turn' }), { kind: 'turn_end', held: false }],
  ],
  cline: [
    [CLINE('TaskResume'), { kind: 'session_start' }],
    [CLINE('UserPromptSubmit'), { kind: 'prompt' }],
    [CLINE('PreToolUse', { preToolUse: { toolName: 'write_to_file' } }), { kind: 'before_tool', tool: 'write_to_file' }],
    [CLINE('PostToolUse', { postToolUse: { toolName: 'write_to_file' } }), { kind: 'after_tool', tool: 'write_to_file' }],
    [CLINE('TaskComplete'), undefined],
  ],
  goose: [
    [
      { event: 'PreToolUse', session_id: 's-1', tool_name: 'developer__shell' },
      { kind: 'before_tool', tool: 'developer__shell' },
    ],
    [
      { event: 'Stop', session_id: 's-1' },
      { kind: 'turn_end', held: false },
    ],
    [{ event: 'PostToolUse', session_id: 's-1' }, undefined],
  ],
  letta: [
    [LETTA('SessionStart'), { kind: 'session_start' }],
    [LETTA('UserPromptSubmit', { is_command: false }), { kind: 'prompt' }],
    [LETTA('UserPromptSubmit', { is_command: true }), undefined],
    [LETTA('PostToolUse', { tool_name: 'Bash' }), { kind: 'after_tool', tool: 'Bash' }],
    [LETTA('Stop'), { kind: 'turn_end' }],
  ],
  kimi: [
    [common('UserPromptSubmit', { prompt: 'go' }), { kind: 'prompt' }],
    [common('PreToolUse', { tool_name: 'Bash' }), { kind: 'before_tool', tool: 'Bash' }],
    [common('PostToolUse', { tool_name: 'Bash' }), undefined],
    [common('Stop', { stop_hook_active: true }), { kind: 'turn_end', held: true }],
  ],
};

function CURSOR(event: string): Input {
  return { hook_event_name: event, conversation_id: 's-1', generation_id: 'g-1', workspace_roots: ['/work'] };
}
function CLINE(event: string, more: Input = {}): Input {
  return { hookName: event, taskId: 's-1', workspaceRoots: ['/work'], ...more };
}
function LETTA(event: string, more: Input = {}): Input {
  return { event_type: event, working_directory: '/work', ...more };
}

describe.for(Object.keys(MOMENTS))('%s', (name) => {
  it.for(MOMENTS[name] ?? [])('recognizes the moment of the input %j', ([input, moment]) => {
    expect(momentOf(name, input)).toEqual(moment);
  });

  it('names the missing field of an input and what to do', () => {
    expect(() => hostOf(name).parse({})).toThrow(/the hook's input has \w+ = nothing, expected a text; call earpiece hook from/);
  });

  it('has an event in its settings for each moment that it reads', () => {
    const used = (MOMENTS[name] ?? []).filter(([, moment]) => moment !== undefined).map(([input]) => eventOf(input));
    expect(Object.keys(hostOf(name).events)).toEqual(expect.arrayContaining(used));
  });
});

const eventOf = (input: Input): unknown => input['hook_event_name'] ?? input['hookName'] ?? input['event'] ?? input['event_type'];

describe('the output that each host reads', () => {
  it('the output for Codex has no field that Codex does not know', () => {
    const input = common('PostToolUse');
    expect(said('codex', tell, input)).toEqual({
      hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'WORDS' },
    });
    expect(said('codex', deny, common('PreToolUse'))).toEqual({
      hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'WORDS' },
    });
    expect(said('codex', hold, common('Stop'))).toEqual({ decision: 'block', reason: 'WORDS' });
    expect(said('codex', { kind: 'nothing' }, input)).toEqual({ stdout: '' });
  });

  it.for([
    ['gemini', tell, common('AfterTool'), { hookSpecificOutput: { hookEventName: 'AfterTool', additionalContext: 'WORDS' } }],
    ['gemini', deny, common('BeforeTool'), { decision: 'deny', reason: 'WORDS' }],
    ['gemini', hold, common('AfterAgent'), { decision: 'deny', reason: 'WORDS' }],
    ['qwen', hold, common('Stop'), { decision: 'block', reason: 'WORDS' }],
    ['cursor', tell, CURSOR('postToolUse'), { additional_context: 'WORDS' }],
    ['cursor', deny, CURSOR('preToolUse'), { permission: 'deny', agent_message: 'WORDS' }],
    ['cursor', hold, CURSOR('stop'), { followup_message: 'WORDS' }],
    ['copilot', tell, common('PostToolUse'), { additionalContext: 'WORDS' }],
    ['copilot', deny, common('PreToolUse'), { permissionDecision: 'deny', permissionDecisionReason: 'WORDS' }],
    ['copilot', hold, common('Stop'), { decision: 'block', reason: 'WORDS' }],
    ['cline', tell, CLINE('PostToolUse'), { cancel: false, contextModification: 'WORDS' }],
    ['cline', deny, CLINE('PreToolUse'), { cancel: true, errorMessage: 'WORDS', contextModification: 'WORDS' }],
    ['goose', deny, { event: 'PreToolUse' }, { decision: 'block', reason: 'WORDS' }],
    ['goose', hold, { event: 'Stop' }, { decision: 'block', reason: 'WORDS' }],
    ['letta', tell, LETTA('UserPromptSubmit'), { stdout: 'WORDS' }],
    ['letta', tell, LETTA('PostToolUse'), { hookSpecificOutput: { additionalContext: 'WORDS' } }],
    ['letta', deny, LETTA('PreToolUse'), { stdout: '', stderr: 'WORDS', exitCode: 2 }],
    ['kimi', tell, common('UserPromptSubmit'), { stdout: 'WORDS' }],
    ['kimi', hold, common('Stop'), { stdout: '', stderr: 'WORDS', exitCode: 2 }],
  ] as const)('%s: %j', ([name, answer, input, expected]) => {
    expect(said(name, answer, input)).toEqual(expected);
  });

  it('never ends the loop of an agent: no answer has continue: false', () => {
    for (const { name } of HOOK_HOSTS)
      for (const answer of [tell, deny, hold])
        expect(hostOf(name).format(answer, common('PreToolUse')).stdout).not.toMatch(/"continue"/);
  });
});

describe('the caller of a tool', () => {
  it('in a sub-agent of Codex has the session id of the parent', () => {
    expect(hostOf('codex').parse(common('PreToolUse', { tool_name: 'Bash', agent_id: 'child' }))?.caller).toEqual({
      session: 's-1',
      subagent: 'child',
      folder: '/work',
      transcript: '/home/chat.jsonl',
    });
  });

  it('in Letta Code is the folder, because its tool events name no session', () => {
    const [start, tool] = [LETTA('SessionStart', { conversation_id: 'c' }), LETTA('PreToolUse', { tool_name: 'Bash' })];
    expect(hostOf('letta').parse(start)?.caller).toEqual(hostOf('letta').parse(tool)?.caller);
  });
});
