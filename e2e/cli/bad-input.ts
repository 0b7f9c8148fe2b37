/**
 * Lists bad inputs with their answers. `bad-input.test.ts` runs each row, and `docs/bad-input.md` is made from the rows. In
 * texts, `{folder}` is the project's folder, `{db}` the database with one waiting notification, `{user}` the current user.
 */
export type Row = {
  /** The mistake, for a reader who does not know the command. */
  readonly what: string;
  readonly args: readonly string[];
  /** The content of stdin. `shown` describes bytes that are not readable. */
  readonly stdin?: { readonly bytes: string | Uint8Array; readonly shown: string };
  /** The input of a client whose gateway keeps running. The client disconnects when `stdout` has arrived. */
  readonly client?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Files of the project's folder, in addition to an `earpiece.toml` with `project = "shop"`. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** The name of a function of the test that prepares the row. */
  readonly given?: Given;
  readonly stdout?: string;
  readonly stderr: string;
  readonly code: number;
};

export type Given =
  | 'a folder without rights'
  | 'a folder without any rights'
  | 'a truncated database'
  | 'a damaged database'
  | 'the database of another program'
  | 'a database of a newer Earpiece'
  | 'links in a circle'
  | 'a full disk'
  | 'a locked database'
  | 'a user without home'
  | 'a backup that exists'
  | 'a port in use'
  | 'a port where nobody listens'
  | 'an unreadable earpiece.toml'
  | 'an unreadable subscriber'
  | 'a folder of subscribers without rights'
  | 'a state folder without rights';

const long = (n: number, char = 'a'): string => char.repeat(n);
const usage = (stderr: string): { stderr: string; code: number } => ({ stderr: `earpiece: ${stderr}\n`, code: 2 });
const missing = (stderr: string): { stderr: string; code: number } => ({ stderr: `earpiece: ${stderr}\n`, code: 7 });
const store = (stderr: string): { stderr: string; code: number } => ({ stderr: `earpiece: ${stderr}\n`, code: 6 });
const toml = (text: string): { files: Record<string, string> } => ({ files: { 'earpiece.toml': text } });
const wrongToml = (place: string, message: string): Pick<Row, 'args' | 'stdout' | 'stderr' | 'code'> => ({
  args: ['config', 'check'],
  stdout: `{folder}/earpiece.toml:${place}: ${message}\n`,
  stderr: '',
  code: 8,
});
const subscriber = (
  more: string,
  head = '[subscriber]\nid = "build"\nname = "Builds"\n[events]\n',
): Pick<Row, 'files' | 'args'> => ({
  files: { 'build.toml': `${head}${more}` },
  args: ['subscribers', 'check', 'build.toml'],
});
const wrongSubscriber = (place: string, message: string): Pick<Row, 'stdout' | 'stderr' | 'code'> => ({
  stdout: `build.toml:${place}: ${message}\n`,
  stderr: '',
  code: 8,
});
const send = (...more: string[]): { args: string[] } => ({ args: ['send', '--to', 'coder', ...more] });
const remind = (...more: string[]): { args: string[] } => ({ args: ['remind', '--to', 'coder', ...more] });
const emit = (text: string): Pick<Row, 'args' | 'stdin'> => ({
  args: ['emit', '--to', 'coder', '-'],
  stdin: { bytes: text, shown: `\`${text.trim().replaceAll('\n', ' ⏎ ')}\`` },
});
const SMALL = (scheme: string, rest: string, small: string): string =>
  `"${scheme}://…@${rest}" must name a store: write ${small}:// in small letters, without spaces; give a path, sqlite:<path>, memory:, postgres://… or nats://…`;
const TIMES = 'write e.g. "in 10m", "at 15:30", "tomorrow at 9", "May 1 at 10:00" or "after 3 turns"';
const FORMS = 'write project/agent, project/agent#conversation or project/*';

export const BAD_INPUT: Readonly<Record<string, readonly Row[]>> = {
  'The command line': [
    {
      what: 'an unknown command',
      args: ['sned', 'hello'],
      ...usage('unknown command "sned"; did you mean send? (see earpiece help)'),
    },
    {
      what: 'a command that resembles no other',
      args: ['frobnicate'],
      ...usage('unknown command "frobnicate" (see earpiece help)'),
    },
    {
      what: 'an unknown command of a group',
      args: ['db', 'prnue'],
      ...usage('unknown command "prnue"; did you mean prune? (see earpiece help db)'),
    },
    {
      what: 'an unknown help topic',
      args: ['help', 'sned'],
      ...usage('there is no command "sned"; did you mean send? (see earpiece help)'),
    },
    {
      what: 'an unknown option',
      args: ['send', '--levl', 'error', 'x'],
      ...usage('unknown option "--levl"; did you mean --level? (see earpiece help send)'),
    },
    {
      what: 'a message that looks like an option',
      args: ['send', '-x'],
      ...usage('unknown option "-x"; put a message that begins with "-" after -- (see earpiece help send)'),
    },
    {
      what: "a server's option before --",
      args: ['gateway', 'npx', '-y', 'server'],
      ...usage(
        'unknown option "-y"; put the options of the server\'s command after --: earpiece gateway -- <command> (see earpiece help gateway)',
      ),
    },
    {
      what: 'an option without its value',
      args: ['log', '--limit'],
      ...usage('option "--limit <n>" argument missing (see earpiece help log)'),
    },
    { what: 'an argument too few', args: ['why'], ...usage('missing required argument "id" (see earpiece help why)') },
    {
      what: 'an argument too many',
      args: ['why', 'a', 'b', 'c'],
      ...usage('why takes at most 2 arguments, got a, b, c; quote words that belong together (see earpiece help why)'),
    },
    {
      what: 'an invalid number',
      args: ['log', '--limit', 'many'],
      ...usage('--limit "many" is not a whole number from 1 to 1000000'),
    },
    {
      what: 'two exclusive arguments',
      args: ['withdraw', 'n1', '--key', 'k'],
      ...usage('withdraw needs either an id or --key <key>, got both'),
    },
    {
      what: 'an address together with --all',
      args: ['log', 'coder', '--all'],
      ...usage('give either an address ("coder") or --all, got both'),
    },
    {
      what: 'a timeout without --wait',
      ...send('--timeout', '5s', 'x'),
      ...usage('--timeout 5s works only with --wait; add --wait delivered'),
    },
    {
      what: 'a bad timeout: nothing is queued',
      ...send('--wait', 'delivered', '--timeout', 'soon', 'x'),
      ...usage('--timeout "soon" is not a duration; write 250ms, 30s, 10m, 2h or 3d'),
    },
    {
      what: 'a bad duration of prune',
      args: ['db', 'prune', '--older', '7 days'],
      ...usage('--older "7 days" is not a duration; write 250ms, 30s, 10m, 2h or 3d'),
    },
    {
      what: 'an invalid pattern of mute',
      args: ['mute', 'ci failed', 'coder'],
      ...usage('pattern "ci failed" must be "*", a source, "source.*" or "source.name"'),
    },
    {
      what: 'an unknown id',
      args: ['why', 'nope'],
      stderr: 'earpiece: there is no notification "nope"; earpiece log --all lists the existing notifications\n',
      code: 7,
    },
    {
      what: 'a requeue of an open notification',
      args: ['requeue', 'keep'],
      ...usage('keep is open; only a closed notification can be queued again'),
    },
    {
      what: 'an unknown setting',
      args: ['config', 'explain', 'budget.max_item'],
      ...usage('budget.max_item is not a setting; did you mean budget.max_items?'),
    },
    {
      what: 'a change of an unknown setting',
      args: ['config', 'set', 'budget.max_item', '5'],
      ...usage('budget.max_item is not a setting; did you mean budget.max_items?'),
    },
    {
      what: 'a value that a setting does not allow',
      args: ['config', 'set', 'budget.max_items', 'ten'],
      ...usage('budget.max_items is "ten"; write a whole number from 1 to 1000'),
    },
    {
      what: 'a change of an invalid TOML file',
      ...toml('project = "shop"\nview =\n'),
      args: ['config', 'set', 'min_level', 'error', '--project'],
      ...usage(
        '{folder}/earpiece.toml:2:7: is not valid TOML: invalid value, in "view ="; put a text in double quotes\nnothing was changed; fix the problem above first',
      ),
    },
    {
      what: 'trust for a file that is not TOML',
      ...toml('view = ['),
      args: ['trust'],
      stdout: '{folder}/earpiece.toml:1:8: is not valid TOML: unfinished array, in "view = ["; see https://toml.io\n',
      stderr: '',
      code: 8,
    },
    {
      what: 'a missing file',
      args: ['config', 'check', 'nope.toml'],
      stderr: 'earpiece: nope.toml cannot be read (ENOENT); name a readable earpiece.toml\n',
      code: 7,
    },
    {
      what: 'a missing file to trust',
      args: ['trust', 'nope.toml'],
      stderr: 'earpiece: nope.toml cannot be read (ENOENT); name a readable earpiece.toml\n',
      code: 7,
    },
  ],

  Addresses: [
    {
      what: 'a slash too many',
      args: ['send', '--to', 'shop/co/der', 'x'],
      ...usage(`address "shop/co/der": the agent contains "/", which is not allowed; ${FORMS}`),
    },
    {
      what: 'a star inside of a name',
      args: ['send', '--to', 'shop/co*', 'x'],
      ...usage(`address "shop/co*": the agent contains "*", which is not allowed; ${FORMS}`),
    },
    {
      what: 'a control character',
      args: ['send', '--to', 'shop/co\u0007der', 'x'],
      ...usage(`address "shop/co\\u0007der": the agent contains "\\u0007", which is not allowed; ${FORMS}`),
    },
    {
      what: 'a bidi override: the error shows its code',
      args: ['send', '--to', 'shop/co\u202eder', 'x'],
      ...usage(`address "shop/co\\u{202e}der": the agent contains "\\u{202e}", which is not allowed; ${FORMS}`),
    },
    {
      what: 'a name of 200 characters',
      args: ['send', '--to', `shop/${long(200)}`, 'x'],
      ...usage(`address "shop/${long(75)}…": the agent is 200 characters long, at most 128 are allowed; ${FORMS}`),
    },
    { what: 'no agent', args: ['send', '--to', 'shop/', 'x'], ...usage(`address "shop/": the agent is empty; ${FORMS}`) },
    {
      what: 'no conversation',
      args: ['send', '--to', 'shop/coder#', 'x'],
      ...usage(`address "shop/coder#": the conversation is empty; ${FORMS}`),
    },
    {
      what: 'a space at the end',
      args: ['send', '--to', 'shop/coder ', 'x'],
      ...usage(`address "shop/coder ": the agent begins or ends with a space; ${FORMS}`),
    },
    {
      what: 'a project without an active agent',
      args: ['send', 'is anybody there'],
      stderr:
        'earpiece: no conversation is active in project "shop"; start an agent that is connected (earpiece install connects coding agents), or name one agent: shop/<agent> keeps the notification until that agent arrives (--to names the agent)\n',
      code: 5,
    },
    {
      what: 'a whole project instead of one agent',
      args: ['inbox', '--read', 'shop/*'],
      ...usage('address "shop/*" is a whole project; name one agent: shop/<agent>'),
    },
  ],

  Notifications: [
    { what: 'a blank message', ...send('  '), ...usage('message "  ": must be a text that is not blank') },
    {
      what: 'only characters without width',
      ...send('\u200b'),
      ...usage('message "\\u{200b}": must be a text that is not blank'),
    },
    {
      what: 'nothing on stdin',
      ...send(),
      stdin: { bytes: '', shown: 'nothing' },
      ...usage('stdin has no message; write the message after the command, or pipe it in'),
    },
    {
      what: 'a message of 2 MB',
      ...send(),
      stdin: { bytes: long(2_097_152, 'x'), shown: '2 MB of text' },
      ...usage('message has 2097152 characters, at most 1048576 are allowed; write the text to a file and send the path'),
    },
    {
      what: 'more bytes on stdin than a message may have',
      ...send(),
      stdin: { bytes: long(4_194_305, 'x'), shown: 'more than 4 MB' },
      ...usage(
        'the message on stdin must be at most 1048576 characters, got more than 4194304 bytes; write the message to a file and send the path',
      ),
    },
    {
      what: 'invalid UTF-8: the message is still sent',
      ...send('--id', 'latin1'),
      stdin: { bytes: Uint8Array.of(0x66, 0xfc, 0x72), shown: '`66 fc 72`' },
      stdout: 'latin1  queued for shop/coder\n',
      stderr: 'earpiece: stdin is not valid UTF-8; "\ufffd" replaces the unreadable parts\n',
      code: 0,
    },
    {
      what: 'an unknown level',
      ...send('--level', 'erorr', 'x'),
      ...usage('--level "erorr" must be one of info, warning, error, critical; did you mean error?'),
    },
    {
      what: 'an unknown action',
      ...send('--action', 'stop', 'x'),
      ...usage('--action "stop" must be one of cancel, pause, resume'),
    },
    {
      what: 'an unknown receipt',
      ...send('--wait', 'seen', 'x'),
      ...usage('--wait "seen" must be one of queued, offered, delivered, observed, read'),
    },
    {
      what: 'a kind without a name',
      ...send('--kind', 'ci', 'x'),
      ...usage('kind "ci" must be "source.name" (letters, digits, "_" and "-", at most 64 each), e.g. "tool.failed"'),
    },
    {
      what: 'an id with a space',
      ...send('--id', 'my id', 'x'),
      ...usage('id "my id": must not contain spaces, commas or control characters'),
    },
    {
      what: 'an id with a bar of the lists',
      ...send('--id', 'my│id', 'x'),
      ...usage(
        'id "my│id": must not contain U+2502, which is invisible or looks like a part of a list; leave this character out',
      ),
    },
    {
      what: 'an id of 300 characters',
      ...send('--id', long(300), 'x'),
      ...usage('id has 300 characters, at most 256 are allowed; choose a shorter value'),
    },
    {
      what: 'data that is not JSON',
      ...send('--data', '{branch: main}', 'x'),
      ...usage(
        '--data "{branch: main}" is not JSON; write e.g. \'{"branch": "main"}\', with single quotes around the double quotes',
      ),
    },
    {
      what: 'data that nests 65 deep',
      ...send('--data', `${long(65, '[')}${long(65, ']')}`, 'x'),
      ...usage('data nests more than 64 levels deep; write the data to a file and send the path'),
    },
    {
      what: 'an invalid time to live',
      ...send('--ttl', 'soon', 'x'),
      ...usage('--ttl "soon" is not a duration; write 250ms, 30s, 10m, 2h, 3d or never'),
    },
    {
      what: 'an empty key',
      args: ['withdraw', '--key', ''],
      ...usage('--key "" is blank; write the key of the notifications'),
    },
    {
      what: 'a mute that ends at once',
      args: ['mute', 'ci', '--for', '0s'],
      ...usage('with --for "0s" the mute ends at once; write e.g. 10m, or leave --for out'),
    },
    {
      what: 'a purpose that no conversation can have',
      ...send('--purpose', 'code review', 'x'),
      ...usage(
        'the purpose "code review" (--purpose or EARPIECE_PURPOSE) may contain only letters, digits, "_" and "-"; write task or chat',
      ),
    },
    {
      what: 'an invalid duration of a mute',
      args: ['mute', 'ci', '--for', 'tomorrow'],
      ...usage('--for "tomorrow" is not a duration; write 250ms, 30s, 10m, 2h, 3d or today'),
    },
    {
      what: 'a time to live that ends at once',
      ...send('--ttl', '0', 'x'),
      ...usage('with --ttl "0" the notification expires before the agent can read it; write e.g. 10m, or never'),
    },
    {
      what: 'an unknown moment',
      ...send('--deliver', 'nxt', 'x'),
      ...usage(
        '--deliver "nxt" must be one of next, after_tool, next_cycle, cycle_end, turn_start, turn_end, now, in:<duration>, turns:<n>, after:<tool>; did you mean next?',
      ),
    },
    {
      what: 'a moment with an invalid duration',
      ...send('--deliver', 'in:later', 'x'),
      ...usage('--deliver "in:later" is not in:<duration>; write 250ms, 30s, 10m, 2h or 3d'),
    },
    {
      what: 'a moment more than ten years away',
      ...send('--deliver', 'in:99999999d', 'x'),
      ...usage('--deliver "in:99999999d" must be at most in:3650d; write a shorter duration'),
    },
    {
      what: '--supersede without a key',
      ...send('--supersede', 'x'),
      ...usage(
        '--supersede works only with --key <key>, because the notification replaces older ones of its key; add --key <key>',
      ),
    },
    {
      what: 'a person without a name',
      ...send('--as', ' ', 'x'),
      ...usage('--as " " is not a name; write the name of the person who sends the notification'),
    },
    {
      what: 'a blank instruction',
      ...send('--instruction', ' ', 'x'),
      ...usage('instruction " ": must be a text that is not blank'),
    },
  ],

  'Reminders, events and reported commands': [
    {
      what: 'an invalid time',
      ...remind('banana', 'x'),
      ...usage(`the time "banana" is not understood; ${TIMES}`),
    },
    {
      what: 'a reminder with two times',
      ...remind('at 9 or at 10', 'x'),
      ...usage(`the time "at 9 or at 10" is not understood; ${TIMES}`),
    },
    {
      what: 'a past time',
      ...remind('2020-05-01T10:00:00Z', 'x'),
      env: { EARPIECE_TIME_ZONE: 'UTC' },
      ...usage(`the time "2020-05-01T10:00:00Z" has passed (Fri 2020-05-01 10:00); ${TIMES}`),
    },
    {
      what: 'a time more than a year away',
      ...remind('2999-05-01T10:00:00Z', 'x'),
      env: { EARPIECE_TIME_ZONE: 'UTC' },
      ...usage('the time "2999-05-01T10:00:00Z" is more than a year away (Wed 2999-05-01 10:00); write a time within a year'),
    },
    {
      what: 'a reminder after zero turns',
      ...remind('after 0 turns', 'x'),
      ...usage('the time "after 0 turns" must be 1 to 1000 turns, got 0'),
    },
    {
      what: 'a reminder without a text',
      ...remind('in 10m'),
      ...usage(
        'remind needs a text after the time "in 10m": earpiece remind "in 10m" "look at the build" (or --list, --cancel <id>)',
      ),
    },
    {
      what: 'a critical reminder, which could not wait',
      ...remind('--level', 'critical', 'in 10m', 'x'),
      ...usage('--level "critical" must be one of info, warning, error'),
    },
    {
      what: 'a reminder that expires before it can be read',
      ...remind('--ttl', '0', 'in 10m', 'x'),
      ...usage('with --ttl "0" the reminder expires before the agent can read it; write e.g. 10m'),
    },
    {
      what: 'a cancel of a reminder that does not exist',
      args: ['remind', '--cancel', 'keep'],
      stderr:
        'earpiece: no waiting reminder of shop has the id or key "keep"; earpiece remind --list shows the waiting reminders\n',
      code: 7,
    },
    {
      what: 'a time together with --list',
      args: ['remind', '--list', 'in 10m'],
      ...usage('--list works without a time and a text, got "in 10m"; leave out either the option, or the time and the text'),
    },
    {
      what: 'a missing file',
      args: ['emit', 'event.json'],
      ...missing('the file "event.json" does not exist; name a file with an event in JSON, or - for stdin'),
    },
    {
      what: 'a folder in place of a file',
      args: ['emit', '.'],
      ...usage('the file "." is a folder; name a file with an event in JSON, or - for stdin'),
    },
    {
      what: 'no event',
      args: ['emit', '--to', 'coder', '-'],
      stdin: { bytes: ' \n', shown: 'a blank line' },
      ...usage('the input is blank; write at least one event'),
    },
    {
      what: 'input that is not JSON',
      ...emit('{"type": deploy}'),
      ...usage(
        'the input is not JSON (Unexpected token \'d\', "{"type": deploy}" is not valid JSON); write {"type": "build.failed", "data": {…}}, a list of such objects, or one object per line',
      ),
    },
    {
      what: 'an invalid JSON file of several lines',
      files: { 'event.json': 'type:\n  deploy\n' },
      args: ['emit', 'event.json'],
      ...usage(
        'event.json: the input is not JSON (Unexpected token \'y\', "type: deploy " is not valid JSON); write {"type": "build.failed", "data": {…}}, a list of such objects, or one object per line',
      ),
    },
    {
      what: 'an invalid line',
      ...emit('{"type":"cli.event"}\n{"type":'),
      ...usage(
        'line 2 is not JSON (Unexpected end of JSON input); write {"type": "build.failed", "data": {…}}, a list of such objects, or one object per line',
      ),
    },
    {
      what: 'invalid UTF-8',
      args: ['emit', '--to', 'coder', '-'],
      stdin: { bytes: Uint8Array.of(0x7b, 0xff, 0x7d), shown: '`7b ff 7d`' },
      ...usage('stdin is not UTF-8, which JSON requires; convert the text to UTF-8'),
    },
    {
      what: 'an event without a type',
      ...emit('{"data": {}}'),
      ...usage('event attribute type is missing; every CloudEvent needs this attribute'),
    },
    {
      what: 'an attribute that is mistyped',
      ...emit('{"type": "cli.event", "sevrity": "error"}'),
      ...usage('event attribute "sevrity" is unknown; did you mean severity?'),
    },
    {
      what: 'an unknown severity',
      ...emit('{"type": "cli.event", "severity": "eror"}'),
      ...usage('event attribute severity "eror": must be one of debug, info, warning, error, critical; did you mean error?'),
    },
    {
      what: 'a type with a space',
      ...emit('{"type": "build failed"}'),
      ...usage('event type "build failed": must be dotted words of letters, digits, "_" and "-", e.g. "build.failed"'),
    },
    {
      what: 'an event without a subscriber',
      ...emit('{"type": "com.example.odd"}'),
      stdout:
        'no subscriber listens to com.example.odd; nothing was queued\n\n' +
        'To be notified of this event, put this into .earpiece/subscribers/com_example_odd.toml:\n\n' +
        '[subscriber]\nid = "com_example_odd"\nname = "com.example.odd"\n\n[events]\ntypes = ["com.example.odd"]\n\nthen run: earpiece trust\n',
      stderr: '',
      code: 5,
    },
    {
      what: 'no command',
      args: ['run-and-tell', '--to', 'coder'],
      ...usage('missing required argument "command" (see earpiece help run-and-tell)'),
    },
    {
      what: "a command's option before --",
      args: ['run-and-tell', 'npm', '-t'],
      ...usage(
        'unknown option "-t"; put the options of the command after --: earpiece run-and-tell -- <command> (see earpiece help run-and-tell)',
      ),
    },
    {
      what: 'a time limit of 0 for run-and-tell',
      args: ['run-and-tell', '--timeout', '0', '--', 'touch', 'ran'],
      ...usage('--timeout must be above 0, got 0; leave the option out for no time limit'),
    },
    {
      what: 'an empty name: the command does not run',
      args: ['run-and-tell', '--name', '', '--', 'touch', 'ran'],
      ...usage('--name must not be empty; leave the option out to show the command itself'),
    },
    {
      what: 'too many lines: the command does not run',
      args: ['run-and-tell', '--lines', '9999', '--', 'touch', 'ran'],
      ...usage('--lines "9999" is not a whole number from 0 to 200'),
    },
    {
      what: 'an invalid address: the command does not run',
      args: ['run-and-tell', '--to', 'a/b/c', '--', 'touch', 'ran'],
      ...usage(`address "a/b/c": the agent contains "/", which is not allowed; ${FORMS}`),
    },
  ],

  Configuration: [
    { what: 'an unknown key', ...toml('veiw = "json"'), ...wrongToml('1:1', 'veiw is unknown; did you mean "view"?') },
    {
      what: 'an unknown key, with another command',
      ...toml('veiw = "json"'),
      ...send('x'),
      ...usage('{folder}/earpiece.toml:1:1: veiw is unknown; did you mean "view"?'),
    },
    {
      what: 'a key twice',
      ...toml('view = "json"\nview = "xml"'),
      ...wrongToml(
        '2:1',
        'is not valid TOML: trying to redefine an already defined table or value, in "view = \\"xml\\""; merge both places into one',
      ),
    },
    {
      what: 'an unknown word',
      ...toml('view = "jsn"'),
      ...wrongToml(
        '1:8',
        'view is "jsn"; did you mean "json"? Write one of default, markdown, xml, xml_batch, toon, json, signal_en, signal_ja',
      ),
    },
    {
      what: 'a text for a number',
      ...toml('max_open = "many"'),
      ...wrongToml('1:12', 'max_open is "many"; write a whole number from 1 to 1000000'),
    },
    {
      what: 'a duration without its unit',
      ...toml('retention = 30'),
      ...wrongToml('1:13', 'retention is 30, without a unit; write a duration such as "30d", from "1h" to "3650d"'),
    },
    {
      what: 'an incomplete line',
      ...toml('view = '),
      ...wrongToml('1:8', 'is not valid TOML: invalid value, in "view ="; put a text in double quotes'),
    },
    {
      what: 'invalid UTF-8',
      files: { 'earpiece.toml': Uint8Array.of(0xff, 0xfe, 0x3d, 0x31) },
      ...wrongToml('1:1', 'is not valid TOML: illegal character in key, in "\ufffd\ufffd=1"; see https://toml.io'),
    },
    {
      what: 'an invalid project name',
      ...toml('project = "a/b"'),
      ...wrongToml('1:11', 'project is "a/b"; write a name without "/", "#" and "*", at most 128 characters'),
    },
    {
      what: 'an unknown time zone',
      ...toml('time_zone = "Mars"'),
      ...wrongToml('1:13', 'time_zone is "Mars"; write a time zone such as "Europe/Berlin" or "UTC"'),
    },
    {
      what: 'an invalid regular expression',
      ...toml('redact = ["("]'),
      ...wrongToml(
        '1:11',
        'redact has "(" as element 1: the pattern is not a regular expression of RE2 (missing closing )); correct the pattern',
      ),
    },
    {
      what: 'a server with a command and a URL',
      ...toml('[gateway.servers.x]\ncommand = "a"\nurl = "http://x"'),
      ...wrongToml('2:18', 'gateway.servers.x has both command and url; keep only one'),
    },
    {
      what: 'several mistakes at once',
      ...toml('veiw = 1\nmax_open = 0'),
      ...send('x'),
      ...usage(
        'the configuration has 2 problems:\n  {folder}/earpiece.toml:1:1: veiw is unknown; did you mean "view"?\n  {folder}/earpiece.toml:2:12: max_open is 0; write a whole number from 1 to 1000000',
      ),
    },
    {
      what: 'a file that may not be read',
      given: 'an unreadable earpiece.toml',
      args: ['log'],
      ...usage('{folder}/earpiece.toml: cannot be read (EACCES); make the path a readable file, or remove the path'),
    },
    {
      what: 'servers of an untrusted file',
      ...toml('[gateway.servers.files]\ncommand = "npx"'),
      args: ['gateway'],
      ...usage(
        'the servers in {folder}/earpiece.toml are not trusted and cannot be started; read the file, then run: earpiece trust',
      ),
    },
    {
      what: 'a damaged list of trusted files: no file is trusted',
      files: {
        'earpiece.toml': '[gateway.servers.files]\ncommand = "npx"',
        'state/earpiece/trusted.json': '{"version":1,"files":',
      },
      args: ['gateway'],
      ...usage(
        'the servers in {folder}/earpiece.toml are not trusted and cannot be started; read the file, then run: earpiece trust',
      ),
    },
    {
      what: 'a damaged list of projects, which Earpiece creates again',
      files: { 'state/earpiece/projects.json': '{{{{' },
      ...send('--id', 'n1', 'x'),
      stdout: 'n1  queued for shop/coder\n',
      stderr: '',
      code: 0,
    },
    {
      what: 'a read-only state folder: the message is sent, with a warning',
      given: 'a state folder without rights',
      ...send('--id', 'n1', 'x'),
      stdout: 'n1  queued for shop/coder\n',
      stderr:
        'earpiece: {folder}/state/earpiece/projects.json cannot be written (EACCES); make {folder}/state/earpiece writable or set XDG_STATE_HOME\n',
      code: 0,
    },
  ],

  Subscribers: [
    {
      what: 'an incomplete table header',
      ...subscriber('types = ["build.failed"]\n[output'),
      ...wrongSubscriber(
        '6:2',
        'is not valid TOML: incomplete key-value: cannot find end of key, in "[output"; see https://toml.io',
      ),
    },
    {
      what: 'an unknown key',
      ...subscriber('types = ["build.failed"]\nseverity = "error"'),
      ...wrongSubscriber('6:1', 'events.severity is unknown; allowed are types, severity_filter, sources'),
    },
    {
      what: 'a mistyped key',
      ...subscriber('types = ["build.failed"]\n[output]\nprioritty = "high"'),
      ...wrongSubscriber('7:1', 'output.prioritty is unknown; did you mean "priority"?'),
    },
    {
      what: 'a key of another table',
      ...subscriber('types = ["build.failed"]\nwindow_ms = 100'),
      ...wrongSubscriber('6:1', 'events.window_ms is unknown here; window_ms belongs in [batching]'),
    },
    {
      what: 'a mistyped table',
      ...subscriber('types = ["build.failed"]\n[ouput]'),
      ...wrongSubscriber('6:2', 'ouput is unknown; did you mean "output"?'),
    },
    {
      what: 'an unknown word',
      ...subscriber('types = ["build.failed"]\n[output]\npriority = "hihg"'),
      ...wrongSubscriber('7:12', 'output.priority is "hihg"; did you mean "high"? Write one of critical, high, normal, low'),
    },
    {
      what: 'a number out of its range',
      ...subscriber('types = ["build.failed"]\n[batching]\nwindow_ms = 60000'),
      ...wrongSubscriber('7:13', 'batching.window_ms is 60000; write a whole number from 0 to 10000'),
    },
    {
      what: 'a subscriber without event types',
      ...subscriber(''),
      ...wrongSubscriber('4:2', 'events.types is missing; write a list of event types such as ["build.failed", "deploy.*"]'),
    },
    {
      what: 'a star alone',
      ...subscriber('types = ["*"]'),
      ...wrongSubscriber(
        '5:10',
        'events.types has "*" as element 1: "*" alone would match every event; name a prefix such as "build.*"',
      ),
    },
    {
      what: 'a star inside of a type',
      ...subscriber('types = ["build.*.failed"]'),
      ...wrongSubscriber(
        '5:10',
        'events.types has "build.*.failed" as element 1: "*" is allowed only at the end, after a dot, such as "build.*"',
      ),
    },
    {
      what: 'an id with capitals',
      ...subscriber('types = ["build.failed"]', '[subscriber]\nid = "Build"\nname = "Builds"\n[events]\n'),
      ...wrongSubscriber(
        '2:6',
        'subscriber.id is "Build"; write lower-case letters, digits and "_", beginning with a letter, at most 64 characters',
      ),
    },
    {
      what: 'a template of another folder',
      ...subscriber('types = ["build.failed"]\n[output]\ntemplate = "../../etc/passwd"'),
      ...wrongSubscriber(
        '7:12',
        'output.template is "../../etc/passwd"; write the name of a file in the same folder, such as "build.toon.j2": letters, digits, ".", "_" and "-"',
      ),
    },
    {
      what: 'a missing template: the file still loads',
      ...subscriber('types = ["build.failed"]\n[output]\ntemplate = "build.toon.j2"'),
      ...wrongSubscriber(
        '7:12',
        'warning: output.template is "build.toon.j2", which is not in this folder, so the generic view is used; add the file',
      ),
      code: 0,
    },
    {
      what: 'a type that looks mistyped: the file still loads',
      ...subscriber('types = ["tool.call.failed"]'),
      ...wrongSubscriber(
        '5:10',
        'warning: events.types has "tool.call.failed", which no Earpiece source emits; did you mean "tool.call.failure"?',
      ),
      code: 0,
    },
    {
      what: 'a template with an incomplete tag',
      ...subscriber('types = ["build.failed"]\n[output]\ntemplate = "build.toon.j2"'),
      files: {
        'build.toml':
          '[subscriber]\nid = "build"\nname = "Builds"\n[events]\ntypes = ["build.failed"]\n[output]\ntemplate = "build.toon.j2"',
        'build.toon.j2': 'build\n{{ event.type',
      },
      stdout: 'build.toon.j2:2:1: syntax error: unexpected end of input, expected end of variable block\n',
      stderr: '',
      code: 8,
    },
    {
      what: 'a missing file',
      args: ['subscribers', 'check', 'nope.toml'],
      stderr: 'earpiece: nope.toml does not exist; name the file of a subscriber, or a folder of subscribers\n',
      code: 7,
    },
    {
      what: 'a file that may not be read',
      given: 'an unreadable subscriber',
      ...subscriber('types = ["build.failed"]'),
      stdout: 'build.toml: cannot be read (EACCES); make the file readable\n',
      stderr: '',
      code: 8,
    },
    {
      what: 'a folder that may not be read',
      given: 'a folder of subscribers without rights',
      files: { '.earpiece/subscribers/build.toml': '[subscriber]' },
      args: ['subscribers', 'check', '.earpiece/subscribers'],
      stdout: '.earpiece/subscribers: cannot be read (EACCES); make the folder readable, or remove it\n',
      stderr: '',
      code: 8,
    },
    {
      what: 'an unknown subscriber',
      args: ['subscribers', 'disable', 'selfnotify'],
      stderr: 'earpiece: there is no subscriber "selfnotify"; did you mean self_notify?\n',
      code: 7,
    },
    {
      what: 'to disable a core subscriber',
      args: ['subscribers', 'disable', 'tool_failure'],
      ...usage('tool_failure (Tool failures) cannot be disabled: agents must not miss the notifications of a core subscriber'),
    },
    {
      what: 'to disable a subscriber with --user and --project',
      args: ['subscribers', 'disable', 'self_notify', '--user', '--project'],
      ...usage('give either --project or --user, got both'),
    },
    {
      what: 'a test of an unknown subscriber',
      args: ['subscribers', 'test', 'toolfailure', '-'],
      stdin: { bytes: '{"type": "a.b"}', shown: 'an event' },
      stderr: 'earpiece: there is no subscriber "toolfailure"; did you mean tool_failure?\n',
      code: 7,
    },
    {
      what: 'an event with invalid JSON',
      args: ['subscribers', 'test', 'tool_failure', '-'],
      stdin: { bytes: '{type: "a.b"}', shown: '`{type: "a.b"}`' },
      ...usage(
        `stdin: the input is not JSON (Expected property name or '}' in JSON at position 1 (line 1 column 2)); write {"type": "build.failed", "data": {…}}, a list of such objects, or one object per line`,
      ),
    },
    {
      what: 'an event without a type',
      args: ['subscribers', 'test', 'tool_failure', '-'],
      stdin: { bytes: '{"severity": "error"}', shown: '`{"severity": "error"}`' },
      ...usage('stdin: event attribute type is missing; every CloudEvent needs this attribute'),
    },
    {
      what: 'an event in a missing file',
      args: ['subscribers', 'test', 'tool_failure', 'event.json'],
      ...missing('the file "event.json" does not exist; name a file with an event in JSON, or - for stdin'),
    },
    {
      what: 'an event of another type',
      args: ['subscribers', 'test', 'tool_failure', '-'],
      stdin: { bytes: '{"type": "tool.call.success"}', shown: '`{"type": "tool.call.success"}`' },
      stdout: 'tool.call.success: not heard, type tool.call.success is not among tool.call.failure, tool.call.timeout\n',
      stderr: '',
      code: 5,
    },
  ],

  Tasks: [
    {
      what: 'an unknown status',
      args: ['tasks', 'status', 't1', 'blokced'],
      ...usage('status "blokced" must be one of backlog, todo, in_progress, blocked, done, cancelled; did you mean blocked?'),
    },
    {
      what: 'an unknown task',
      args: ['tasks', 'show', 't99'],
      stderr: 'earpiece: there is no task "t99" in project shop; to see the open tasks, run: earpiece tasks list\n',
      code: 7,
    },
    {
      what: 'an invalid id',
      args: ['tasks', 'status', '#7', 'done'],
      stderr:
        'earpiece: there is no task "#7" in project shop; task ids look like t7; to see the open tasks, run: earpiece tasks list\n',
      code: 7,
    },
    {
      what: 'an agent of another project',
      args: ['tasks', 'add', '--to', 'web/coder', 'Fix the login'],
      ...usage('assignee "web/coder" must be an agent of project shop; write only the name of the agent'),
    },
    {
      what: 'a whole project as the assignee',
      args: ['tasks', 'add', '--to', '*', 'Fix the login'],
      ...usage('assignee "*" must be an agent of project shop; write only the name of the agent'),
    },
    {
      what: 'an unknown priority',
      args: ['tasks', 'add', '--priority', 'higher', 'Fix the login'],
      ...usage('--priority "higher" must be one of low, normal, high, urgent; did you mean high?'),
    },
    {
      what: 'a title of two lines',
      args: ['tasks', 'add', 'Fix\nthe login'],
      ...usage('title "Fix\\nthe login" must be one line of text; put more text into the description'),
    },
    {
      what: 'a title that is too long',
      args: ['tasks', 'add', long(300)],
      ...usage('title has 300 characters, at most 200 are allowed; put the remaining text into a file and name the file'),
    },
    {
      what: 'an assignment without an assignee',
      args: ['tasks', 'assign', 't1'],
      ...usage('tasks assign needs either an agent or --nobody, got neither'),
    },
    {
      what: 'a blank name of a person',
      args: ['tasks', 'add', '--as', ' ', 'Fix the login'],
      ...usage('--as " " is not a name; write the name of the person who makes the change'),
    },
    {
      what: 'an invalid purpose',
      args: ['gateway', '--purpose', 'small talk', '--', 'x'],
      ...usage(
        'the purpose "small talk" (--purpose or EARPIECE_PURPOSE) may contain only letters, digits, "_" and "-"; write task or chat',
      ),
    },
    {
      what: 'all tasks of one status',
      args: ['tasks', 'list', '--all', '--status', 'done'],
      ...usage('give either --all or --status done, got both'),
    },
  ],

  'The environment': [
    {
      what: 'an unknown view',
      env: { EARPIECE_VIEW: 'xlm' },
      args: ['log'],
      ...usage(
        'EARPIECE_VIEW is "xlm"; did you mean "xml"? Write one of default, markdown, xml, xml_batch, toon, json, signal_en, signal_ja',
      ),
    },
    {
      what: 'an invalid address',
      env: { EARPIECE_ADDRESS: 'a/b/c' },
      args: ['inbox'],
      ...usage('EARPIECE_ADDRESS is "a/b/c"; write an agent\'s name, project/agent, project/agent#conversation or project/*'),
    },
    {
      what: 'a duration without its unit',
      env: { EARPIECE_RETENTION: '30' },
      args: ['log'],
      ...usage('EARPIECE_RETENTION is 30, without a unit; write a duration such as "30d", from "1h" to "3650d"'),
    },
    {
      what: 'an invalid fault point',
      env: { EARPIECE_FAULT: 'queue.checked:often' },
      args: ['log'],
      ...usage('EARPIECE_FAULT=queue.checked:often: "often" must be a whole number of at least 1; write queue.checked:1'),
    },
    {
      what: 'a fault point with a part too many',
      env: { EARPIECE_FAULT: 'queue.checked:1:kill:extra' },
      args: ['log'],
      ...usage('EARPIECE_FAULT=queue.checked:1:kill:extra: ":extra" must not follow the action; write queue.checked:1:kill'),
    },
    {
      what: 'an invalid home',
      env: { HOME: 'home', XDG_CONFIG_HOME: '', XDG_STATE_HOME: '' },
      args: ['log'],
      ...usage('HOME is "home", which is not an absolute path; set HOME, or XDG_STATE_HOME and XDG_CONFIG_HOME'),
    },
    {
      what: 'no home at all',
      given: 'a user without home',
      env: { XDG_CONFIG_HOME: '', XDG_STATE_HOME: '' },
      args: ['log'],
      ...usage('HOME is not set and this user has no home directory; set HOME, or XDG_STATE_HOME and XDG_CONFIG_HOME'),
    },
  ],

  'The database': [
    {
      what: 'a folder as the database',
      args: ['--db', '{folder}', 'log'],
      ...store('{folder} is a folder, not a database: name a file in that folder, e.g. {folder}/earpiece.db'),
    },
    {
      what: 'a text file as the database',
      files: { 'notes.txt': 'not a database' },
      args: ['--db', 'notes.txt', 'log'],
      ...store(
        '{folder}/notes.txt is not an SQLite database (file is not a database): name another file with --db or EARPIECE_DB, or move this file away',
      ),
    },
    {
      what: 'a truncated database',
      given: 'a truncated database',
      args: ['--db', 'cut.db', 'send', '--to', 'coder', 'x'],
      ...store(
        'the database {folder}/cut.db has 6000 of 81920 bytes: the file was truncated. Stop the programs that use the database (`fuser {folder}/cut.db`), then move the file away with its -wal and -shm files. Restore a backup if you have one',
      ),
    },
    {
      what: 'a damaged database',
      given: 'a damaged database',
      args: ['--db', 'damaged.db', 'db', 'check'],
      stdout:
        'the database {folder}/damaged.db is damaged (database disk image is malformed): move the file away with its -wal and -shm files, or restore a backup; `sqlite3 {folder}/damaged.db .recover` may save the readable data\n',
      stderr: '',
      code: 8,
    },
    {
      what: 'a damaged database, reported as JSON',
      given: 'a damaged database',
      args: ['--json', '--db', 'damaged.db', 'db', 'check'],
      stdout:
        '{"store":"sqlite {folder}/damaged.db","sound":false,"problems":["the database {folder}/damaged.db is damaged (database disk image is malformed): move the file away with its -wal and -shm files, or restore a backup; `sqlite3 {folder}/damaged.db .recover` may save the readable data"]}\n',
      stderr: '',
      code: 8,
    },
    {
      what: 'the database of another program',
      given: 'the database of another program',
      args: ['--db', 'other.db', 'log'],
      ...store('{folder}/other.db is the SQLite database of another program: name another file with --db or EARPIECE_DB'),
    },
    {
      what: 'a database of a newer Earpiece',
      given: 'a database of a newer Earpiece',
      args: ['--db', 'newer.db', 'log'],
      ...store(
        '{folder}/newer.db was written by a newer version of Earpiece (schema 9; this version knows schema 1). Update Earpiece on this machine, or name another file with --db or EARPIECE_DB',
      ),
    },
    {
      what: 'a device as the database',
      args: ['--db', '/dev/null', 'log'],
      ...store('/dev/null is not a regular file: name another file with --db or EARPIECE_DB'),
    },
    {
      what: 'a missing database file, with a command that only reads',
      args: ['--db', 'typo.db', 'log'],
      ...missing(
        '--db "typo.db": there is no database {folder}/typo.db; correct the path, or leave --db out for the database of this user',
      ),
    },
    {
      what: 'a path below a file',
      files: { 'notes.txt': 'x' },
      args: ['--db', 'notes.txt/x.db', 'log'],
      ...store(
        'cannot make the folder {folder}/notes.txt as user {user}: a part of the path is a file (EEXIST); solve this problem, or name another file with --db or EARPIECE_DB',
      ),
    },
    {
      what: 'a path below a file, for follow: the command does not run',
      files: { 'notes.txt': 'x' },
      args: ['--db', 'notes.txt/x.db', 'follow', '--', 'echo', 'ran'],
      ...store(
        'cannot make the folder {folder}/notes.txt as user {user}: a part of the path is a file (EEXIST); solve this problem, or name another file with --db or EARPIECE_DB',
      ),
    },
    {
      what: 'symbolic links that form a loop',
      given: 'links in a circle',
      args: ['--db', 'circle', 'log'],
      ...store(
        'cannot read {folder}/circle as user {user}: the symbolic links in the path form a loop (ELOOP); solve this problem, or name another file with --db or EARPIECE_DB',
      ),
    },
    {
      what: 'a folder where this user may not write',
      given: 'a folder without rights',
      args: ['--db', 'closed/x.db', 'send', '--to', 'coder', 'x'],
      ...store(
        'cannot read and write {folder}/closed/x.db as user {user}: permission denied (EACCES); solve this problem, or name another file with --db or EARPIECE_DB',
      ),
    },
    {
      what: 'a folder that this user may not enter',
      given: 'a folder without any rights',
      args: ['--db', 'closed/x.db', 'send', '--to', 'coder', 'x'],
      ...store(
        'cannot read {folder}/closed/x.db as user {user}: permission denied (EACCES); solve this problem, or name another file with --db or EARPIECE_DB',
      ),
    },
    {
      what: 'a folder that this user may not enter, with a command that only reads',
      given: 'a folder without any rights',
      args: ['--db', 'closed/x.db', 'agents'],
      ...store(
        'cannot read {folder}/closed/x.db as user {user}: permission denied (EACCES); solve this problem, or name another file with --db or EARPIECE_DB',
      ),
    },
    {
      what: 'a folder that this user may not enter, with a command that uses a database thread',
      given: 'a folder without any rights',
      args: ['--db', 'closed/x.db', 'serve', '--port', '0'],
      ...store(
        'cannot read {folder}/closed/x.db as user {user}: permission denied (EACCES); solve this problem, or name another file with --db or EARPIECE_DB',
      ),
    },
    {
      what: 'a full disk',
      given: 'a full disk',
      args: ['--db', 'full.db', 'send', '--to', 'coder'],
      stdin: { bytes: long(400_000, 'x'), shown: '400 kB of text' },
      ...store(
        'the database {folder}/full.db cannot be written (disk I/O error): the disk is full, a quota is reached, or the disk fails, but no acknowledged record is lost; free some space, or check the disk',
      ),
    },
    {
      what: 'a database that another process locks for longer than 5 s',
      given: 'a locked database',
      ...send('x'),
      ...store('the database {db} stayed locked by another process for 5000 ms: try again, or find that process (`fuser {db}`)'),
    },
    {
      what: 'an empty name of the database',
      args: ['--db', '', 'log'],
      ...usage(
        'flag --db is ""; write the path of a file, such as "earpiece.db", or memory: for a database that ends with its process',
      ),
    },
    {
      what: 'a NATS store whose name has a character that NATS does not allow; the password is not repeated',
      args: ['--db', 'nats://anna:secret@host/my.store', 'log'],
      ...usage('store name "my.store": must have only a–z, 0–9, _ and -, at most 32 characters; write e.g. earpiece'),
    },
    {
      what: 'an unknown database engine',
      args: ['--db', 'sqlit:x.db', 'log'],
      ...usage(
        '"sqlit:x.db" must name a store: did you mean sqlite:; give a path, sqlite:<path>, memory:, postgres://… or nats://…',
      ),
    },
    {
      what: 'the URL of a server in capital letters; the password is not repeated',
      args: ['--db', 'NATS://anna:secret@host:4222/ear', 'inbox'],
      ...usage(SMALL('NATS', 'host:4222/ear', 'nats')),
    },
    {
      what: 'the URL of a server in capital letters, for a command that writes: no file is made',
      args: ['--db', 'POSTGRES://anna:secret@host/ear', 'send', '--to', 'coder', 'x'],
      ...usage(SMALL('POSTGRES', 'host/ear', 'postgres')),
    },
    {
      what: 'a space before the URL of a server',
      args: ['log'],
      env: { EARPIECE_DB: ' postgres://anna:secret@host/ear' },
      ...usage(SMALL(' postgres', 'host/ear', 'postgres')),
    },
    {
      what: 'a capital letter in the URL of a server in EARPIECE_DB',
      args: ['db', 'check'],
      env: { EARPIECE_DB: 'Postgresql://anna:sec/r@et@host/ear?password=secret' },
      ...usage(SMALL('Postgresql', 'host/ear?…', 'postgresql')),
    },
    {
      what: 'the URL of an unknown engine in capital letters',
      args: ['--db', 'MySQL://anna:secret@host/ear', 'send', '--to', 'coder', 'x'],
      ...usage(
        '"MySQL://…@host/ear" must name a store: "MySQL:" is unknown; give a path, sqlite:<path>, memory:, postgres://… or nats://…',
      ),
    },
    {
      what: 'the URL of a server with one slash',
      args: ['--db', 'postgres:/anna:secret@host/ear', 'log'],
      ...usage(
        'the URL of the PostgreSQL database cannot be read: write postgres://user:password@host:5432/database, with special characters of the password as %XX',
      ),
    },
    {
      what: 'a migration to the URL of a server in capital letters',
      args: ['migrate', '--to', 'POSTGRES://anna:secret@host/ear'],
      ...usage(`--to ${SMALL('POSTGRES', 'host/ear', 'postgres')}`),
    },
    {
      what: 'a migration to a single word',
      args: ['migrate', '--to', 'nope'],
      ...usage(
        '--to "nope" is neither a URL nor clearly a file. For a file of this folder, write ./nope or nope.db; for a server, write postgres://… or nats://…',
      ),
    },
    {
      what: 'a backup over a file',
      given: 'a backup that exists',
      args: ['db', 'backup', 'copy.db'],
      ...usage('{folder}/copy.db exists: a backup needs a new file; name another file'),
    },
    {
      what: 'a backup into a missing folder',
      args: ['db', 'backup', 'none/copy.db'],
      ...usage(
        'cannot write the backup {folder}/none/copy.db (ENOENT): name a new file in a folder that exists and may be written',
      ),
    },
  ],

  'The server and its tokens': [
    {
      what: 'a port that is in use',
      given: 'a port in use',
      args: ['serve', '--port', '{port}'],
      ...usage(
        'port {port} of 127.0.0.1 is in use, perhaps by another earpiece serve; choose another port with --port, or 0 for any free port',
      ),
    },
    {
      what: 'an invalid port',
      args: ['serve', '--port', '99999'],
      ...usage('--port "99999" is not a whole number from 0 to 65535'),
    },
    {
      what: 'to listen for other machines without a token',
      args: ['serve', '--host', '0.0.0.0', '--port', '0'],
      ...usage(
        'listening on "0.0.0.0" lets other machines reach this server, but no token exists yet; create a token first: earpiece token create --kind admin --name <name>',
      ),
    },
    {
      what: 'an invalid host',
      args: ['serve', '--host', 'http://127.0.0.1'],
      ...usage('--host "http://127.0.0.1" is not a host name or IP address; write e.g. 127.0.0.1'),
    },
    {
      what: 'a URL instead of a host name',
      args: ['serve', '--allow-host', 'https://example.com'],
      ...usage('--allow-host "https://example.com" is not a host name or IP address; write e.g. 127.0.0.1'),
    },
    {
      what: 'an IP address of another machine',
      args: ['serve', '--host', '192.0.2.1', '--port', '0'],
      ...usage(
        'listening on "192.0.2.1" lets other machines reach this server, but no token exists yet; create a token first: earpiece token create --kind admin --name <name>',
      ),
    },
    {
      what: 'a token without a kind',
      args: ['token', 'create', '--name', 'ci'],
      ...usage('required option "--kind <kind>" not specified (see earpiece help token create)'),
    },
    {
      what: 'an unknown kind of token',
      args: ['token', 'create', '--kind', 'sned', '--name', 'ci'],
      ...usage('--kind "sned" must be one of admin, project, agent, send; did you mean send?'),
    },
    {
      what: 'an agent for a token of another kind',
      args: ['token', 'create', '--kind', 'send', '--name', 'ci', '--agent', 'coder'],
      ...usage('--agent works only with --kind agent, got --kind send; leave --agent out'),
    },
    {
      what: "an agent's token without the agent",
      args: ['token', 'create', '--kind', 'agent', '--name', 'worker'],
      ...usage('a token of kind agent is for one agent, but no agent was named; add --agent <agent>'),
    },
    {
      what: 'a project for an admin token',
      args: ['token', 'create', '--kind', 'admin', '--name', 'me', '--project', 'shop'],
      ...usage('a token of kind admin is for every project; leave the project out'),
    },
    {
      what: 'a token without a name',
      args: ['token', 'create', '--kind', 'admin', '--name', ' '],
      ...usage('a token of kind admin needs a name that is not blank and has no control characters, got " "; write e.g. ci'),
    },
    {
      what: 'an invalid duration',
      args: ['token', 'create', '--kind', 'admin', '--name', 'me', '--expires', 'soon'],
      ...usage('--expires "soon" is not a duration; write 250ms, 30s, 10m, 2h or 3d'),
    },
    {
      what: 'an unknown token',
      args: ['token', 'revoke', 'nope'],
      stderr: 'earpiece: there is no token "nope"; earpiece token list shows all tokens\n',
      code: 7,
    },
    {
      what: 'a login with an invalid server URL',
      args: ['token', 'login', '--url', 'localhost'],
      ...usage('--url "localhost" is not the URL of a server; write e.g. http://127.0.0.1:4747'),
    },
    {
      what: 'an invalid --server URL',
      args: ['agents', '--server', 'localhost:4747'],
      env: { EARPIECE_TOKEN: 'ep_x' },
      ...usage('--server "localhost:4747" is not the URL of a server; write e.g. http://127.0.0.1:4747'),
    },
    {
      what: 'a server URL without a token',
      args: ['agents', '--server', 'http://127.0.0.1:4747'],
      env: { EARPIECE_TOKEN: '' },
      ...usage(
        '--server needs a token in EARPIECE_TOKEN; to create a token on the machine of the server: earpiece token create --kind project --name <name>',
      ),
    },
    {
      what: 'a name and a password in the server URL',
      args: ['agents', '--server', 'http://me:hunter2@127.0.0.1:4747'],
      env: { EARPIECE_TOKEN: 'ep_x' },
      ...usage(
        '--server contains a name or a password, which would be ignored; write http://127.0.0.1:4747, and put the token into EARPIECE_TOKEN',
      ),
    },
    {
      what: 'a token that was copied with other text',
      args: ['agents', '--server', 'http://127.0.0.1:4747'],
      env: { EARPIECE_TOKEN: 'ep_x ep_y' },
      ...usage(
        'EARPIECE_TOKEN contains characters that no token has (blanks, line breaks, letters outside ASCII); set the variable to the output of earpiece token create',
      ),
    },
    {
      what: 'a server that does not run',
      given: 'a port where nobody listens',
      args: ['send', '--to', 'coder', '--server', 'http://127.0.0.1:{port}', 'x'],
      env: { EARPIECE_TOKEN: 'ep_x' },
      stderr: 'earpiece: http://127.0.0.1:{port} cannot be reached; is earpiece serve running there?\n',
      code: 11,
    },
    {
      what: 'to read for an agent on another machine',
      args: ['inbox', '--read', '--server', 'http://127.0.0.1:4747'],
      env: { EARPIECE_TOKEN: 'ep_x' },
      ...usage(
        "--read and --server were given together, but a server only lists notifications; leave out --read, or run the command on the agent's machine",
      ),
    },
  ],
  'The gateway': [
    {
      what: 'no server',
      args: ['gateway'],
      ...usage(
        'there is no server to wrap; write the command of a server after --, add [gateway.servers.<name>] to earpiece.toml, or give --servers <mcpServers.json>',
      ),
    },
    {
      what: 'two kinds of servers',
      args: ['gateway', '--url', 'http://x', '--', 'y'],
      ...usage('give only one of --url, --servers, or a command after `--`'),
    },
    {
      what: 'an unknown command',
      args: ['gateway', '--', 'no-such-server'],
      stderr:
        'earpiece: MCP server "no-such" failed: the command "no-such-server" was not found\nearpiece: the MCP server never answered (the command "no-such-server" was not found); check that this server works without the gateway\n',
      code: 1,
    },
    {
      what: 'a command that ends at once',
      args: ['gateway', '--name', 'broken', '--', process.execPath, '-e', 'process.exit(3)'],
      stderr:
        'earpiece: MCP server "broken" failed: exit code 3\nearpiece: the MCP server never answered (exit code 3); check that this server works without the gateway\n',
      code: 1,
    },
    {
      what: 'a server that prints invalid messages: the messages reach the client unchanged',
      args: ['gateway', '--name', 'chatty', '--', process.execPath, '-e', "console.log('ready!'); process.stdin.resume()"],
      client: '',
      stdout: 'ready!\n',
      stderr: '',
      code: 0,
    },
    {
      what: 'an invalid configuration: the gateway reports the mistake once and continues without the file',
      ...toml('view = '),
      args: ['gateway', '--name', 'chatty', '--', process.execPath, '-e', "console.log('ready!'); process.stdin.resume()"],
      client: '',
      stdout: 'ready!\n',
      stderr:
        'earpiece: {folder}/earpiece.toml:1:8: is not valid TOML: invalid value, in "view ="; put a text in double quotes\n',
      code: 0,
    },
    {
      what: 'a URL where no server listens: the client gets an error and the gateway continues',
      given: 'a port where nobody listens',
      args: ['gateway', '--url', 'http://127.0.0.1:{port}/mcp', '--name', 'search'],
      client: '{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
      stdout:
        '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"The MCP server \\"search\\" at http://127.0.0.1:{port} cannot be reached: connect ECONNREFUSED 127.0.0.1:{port}. Check that the server runs.","data":{"server":"search"}}}\n',
      stderr: 'earpiece: MCP server "search" disconnected: connect ECONNREFUSED 127.0.0.1:{port}\n',
      code: 0,
    },
    {
      what: 'an invalid URL',
      args: ['gateway', '--url', 'example'],
      ...usage('--url "example" is not the URL of an MCP server; write e.g. https://example.com/mcp'),
    },
    {
      what: 'a server name that a tool name cannot contain',
      args: ['gateway', '--name', 'my files', '--', 'x'],
      ...usage('--name "my files" is not a valid name; use at most 64 letters, digits, "_" and "-"'),
    },
    {
      what: 'a whole project instead of a conversation',
      args: ['gateway', '--as', 'shop/*', '--', 'x'],
      ...usage('--as "shop/*" is a whole project; name one agent: shop/<agent>'),
    },
    {
      what: 'an unknown view',
      args: ['gateway', '--view', 'pretty', '--', 'x'],
      ...usage('--view "pretty" must be one of default, markdown, xml, xml_batch, toon, json, signal_en, signal_ja'),
    },
    {
      what: 'an unknown client for --print',
      args: ['gateway', '--print', 'cluade', '--', 'x'],
      ...usage(
        '--print "cluade" must be one of claude, codex, gemini, qwen, opencode, cursor, vscode, json; did you mean claude?',
      ),
    },
    {
      what: 'servers from a missing file',
      args: ['gateway', '--servers', 'none.json'],
      ...usage('{folder}/none.json: cannot be read (ENOENT); name a JSON file with "mcpServers"'),
    },
    {
      what: 'servers from an invalid JSON file',
      files: { 'mcp.json': '{' },
      args: ['gateway', '--servers', 'mcp.json'],
      ...usage('{folder}/mcp.json:1:2: is not valid JSON: expected a name in double quotes, or "}", found the end of the file'),
    },
    {
      what: 'a JSON file without servers',
      files: { 'mcp.json': '{"mcpServers": {}}' },
      args: ['gateway', '--servers', 'mcp.json'],
      ...usage('mcp.json has no servers; add a server to its "mcpServers", or write a command after --'),
    },
    {
      what: 'a list in place of an object of servers',
      files: { 'mcp.json': '{"mcpServers": []}' },
      args: ['gateway', '--servers', 'mcp.json'],
      ...usage('{folder}/mcp.json:1:16: mcpServers is a list; write an object with one member for each server'),
    },
    {
      what: 'a server without "command" and "url"',
      files: { 'mcp.json': '{"mcpServers": {"a": {"cmd": "x"}}}' },
      args: ['gateway', '--servers', 'mcp.json'],
      ...usage('{folder}/mcp.json:1:22: mcpServers.a has only cmd; write "command" or "url"'),
    },
    {
      what: 'a number for a command',
      files: { 'mcp.json': '{"mcpServers": {"a": {"command": 5}}}' },
      args: ['gateway', '--servers', 'mcp.json'],
      ...usage('{folder}/mcp.json:1:34: mcpServers.a.command is 5; write a program such as "npx"'),
    },
    {
      what: 'an invalid port',
      args: ['gateway', '--http', '--port', '99999', '--', 'x'],
      ...usage('--port "99999" is not a whole number from 0 to 65535'),
    },
    {
      what: 'a port that is in use',
      given: 'a port in use',
      args: ['gateway', '--http', '--port', '{port}', '--', 'x'],
      ...usage('port {port} of 127.0.0.1 is in use: choose another port, or 0 for any free port'),
    },
    {
      what: 'a port without HTTP',
      args: ['gateway', '--port', '4748', '--', 'x'],
      ...usage('--port 4748 works only with --http; add --http, or leave the option out'),
    },
    {
      what: 'to listen on all IP addresses without a token',
      args: ['gateway', '--http', '--host', '0.0.0.0', '--port', '0', '--', 'x'],
      ...usage('listening on "0.0.0.0" would let other machines connect: set a token, or listen on 127.0.0.1'),
    },
    {
      what: 'a token that is not set',
      args: ['gateway', '--http', '--port', '0', '--token-env', 'TOKEN', '--', 'x'],
      ...usage('the environment variable TOKEN is not set; set TOKEN to the bearer token'),
    },
    {
      what: 'a token that is empty',
      env: { TOKEN: '' },
      args: ['gateway', '--http', '--port', '0', '--token-env', 'TOKEN', '--', 'x'],
      ...usage('the environment variable TOKEN is empty; set TOKEN to the bearer token'),
    },
  ],
};

/** Input from a client to a gateway in front of a real server (`server-everything`). */
export type FrameRow = {
  readonly what: string;
  readonly frame: { readonly bytes: string | Uint8Array; readonly shown?: string };
  /** The answers, in this order. `{server}`: the server's own text, unchanged. */
  readonly answers: readonly string[];
  readonly stderr?: string;
};

const MIB = 1024 * 1024;
const request = (id: unknown, method: string, params?: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, ...(params && { params }) });
const call = (id: unknown, params: object): string => request(id, 'tools/call', params);
const ours = (id: number, text: string): string =>
  `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":${JSON.stringify(text)}}],"isError":true}}`;
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const around = (start: string, middle: Uint8Array, end: string): Uint8Array =>
  Uint8Array.of(...utf8(start), ...middle, ...utf8(end));

export const BAD_FRAMES: readonly FrameRow[] = [
  { what: 'text', frame: { bytes: 'hello' }, answers: [] },
  { what: 'an empty line', frame: { bytes: '', shown: 'nothing' }, answers: [] },
  {
    what: 'invalid text bytes',
    frame: { bytes: Uint8Array.of(0, 1, 2, 0xff, 0xfe), shown: '`00 01 02 ff fe`' },
    answers: [],
  },
  {
    what: 'an incomplete request',
    frame: { bytes: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"' },
    answers: [],
  },
  { what: 'JSON without a message', frame: { bytes: '42' }, answers: [] },
  { what: 'an empty object', frame: { bytes: '{}' }, answers: [] },
  { what: 'an empty batch', frame: { bytes: '[]' }, answers: [] },
  {
    what: 'an id that is an object',
    frame: { bytes: call({ a: 1 }, { name: 'echo', arguments: { message: 'x' } }) },
    answers: [],
  },
  { what: 'a call without a name', frame: { bytes: call(2, { arguments: {} }) }, answers: ['{server}'] },
  {
    what: 'a call of an unknown tool',
    frame: { bytes: call(3, { name: 'nope', arguments: {} }) },
    answers: ['{server}'],
  },
  { what: 'an unknown method', frame: { bytes: request(4, 'nope') }, answers: ['{server}'] },
  { what: 'two messages in one line', frame: { bytes: `${request(5, 'ping')}${request(6, 'ping')}` }, answers: [] },
  { what: 'one id twice', frame: { bytes: `${request(7, 'ping')}\n${request(7, 'ping')}` }, answers: ['{server}', '{server}'] },
  { what: 'an answer without a request', frame: { bytes: '{"jsonrpc":"2.0","id":8,"result":{}}' }, answers: [] },
  {
    what: 'a cancel without a request',
    frame: { bytes: '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":999}}' },
    answers: [],
  },
  {
    what: 'a batch of a call and a number',
    frame: { bytes: `[${call(9, { name: 'echo', arguments: { message: 'x' } })},5]` },
    answers: ['{server}'],
  },
  {
    what: '100,000 nested arrays',
    frame: {
      bytes: call(10, { name: 'echo', arguments: { message: 0 } }).replace(
        '"message":0',
        `"message":${long(100_000, '[')}${long(100_000, ']')}`,
      ),
      shown: '`…"message":[[[…`',
    },
    answers: ['{server}'],
  },
  {
    what: 'a text with invalid UTF-8',
    frame: {
      bytes: around(
        '{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"echo","arguments":{"message":"',
        Uint8Array.of(0xff, 0xfe),
        '"}}}',
      ),
      shown: '`…"message":"` `ff fe` `"…`',
    },
    answers: ['{server}'],
  },
  {
    what: 'a frame of 66 MiB',
    frame: { bytes: call(12, { name: 'echo', arguments: { message: long(66 * MIB, 'x') } }), shown: '66 MiB of `tools/call`' },
    answers: [
      '{"jsonrpc":"2.0","id":12,"error":{"code":-32600,"message":"the client sent a frame of 66 MiB; frames above 64 MiB are not passed on; use smaller requests"}}',
    ],
    stderr: 'earpiece: the client sent a frame of 66 MiB; frames above 64 MiB are not passed on; use smaller requests\n',
  },
  {
    what: 'get_notifications with an unknown argument',
    frame: { bytes: call(13, { name: 'get_notifications', arguments: { mark: true } }) },
    answers: [ours(13, 'get_notifications has no argument "mark"; use only session_token and mark_as_read')],
  },
  {
    what: 'get_notifications with a text instead of true or false',
    frame: { bytes: call(14, { name: 'get_notifications', arguments: { mark_as_read: 'yes' } }) },
    answers: [ours(14, 'mark_as_read must be true or false, got "yes"')],
  },
  {
    what: 'get_notifications with a list instead of an object',
    frame: { bytes: call(15, { name: 'get_notifications', arguments: ['x'] }) },
    answers: [ours(15, 'get_notifications has no argument "0"; use only session_token and mark_as_read')],
  },
  {
    what: 'get_notifications with an invalid token',
    frame: { bytes: call(16, { name: 'get_notifications', arguments: { session_token: 'nonsense' } }) },
    answers: [
      ours(
        16,
        'session_token "nonsense" is not the token of shop/coder#main, the conversation of this connection; leave session_token out',
      ),
    ],
  },
  {
    what: 'get_notifications with the address of another conversation as the token',
    frame: { bytes: call(17, { name: 'get_notifications', arguments: { session_token: 'shop/other#x' } }) },
    answers: [
      ours(
        17,
        'session_token "shop/other#x" is not the token of shop/coder#main, the conversation of this connection; leave session_token out',
      ),
    ],
  },
];
