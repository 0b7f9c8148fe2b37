/**
 * What Earpiece promises, one line each, as data. A test that proves a promise cites its id (`verifies`, `proves`);
 * `requirements.test.ts` fails on a promise that no test cites, and `docs/guarantees.md` cites the same ids.
 */
type Requirement = { readonly behaviour: string };

export const REQUIREMENTS = {
  // Projects.
  'project:unique': {
    behaviour: 'A project name belongs to one repository; another one of that name gets a longer one, told once.',
  },
  'project:moved': {
    behaviour: "A root whose old path is gone keeps its name after one confirmation, or by the environment's word.",
  },
  'project:foreign': { behaviour: "An untrusted file does not take another root's project name or address." },
  'trust:person': {
    behaviour:
      'A project file that is not trusted neither lowers, expires, drops, shortens nor hides the critical or the pause of a person.',
  },
  'trust:speech': {
    behaviour: 'What a clone brings does not speak to the model before it is trusted: system prompt, model, waking, subscribers.',
  },

  // The log: recording and recovery.
  'log:queued-first': { behaviour: 'A queued notification is in the log before anything delivers it.' },
  'log:durable': { behaviour: 'What was acknowledged survives kill -9 of the process that wrote it.' },
  'log:idempotent': { behaviour: 'The id of a notification is queued once, whoever repeats it.' },
  'log:replay': { behaviour: 'Any prefix of a log replays to the same open set as living through it.' },
  'log:unknown-types': { behaviour: 'Record types and fields that are not known come back as they were given.' },
  'log:omits-defaults': { behaviour: 'Level info and empty lists are not serialized.' },
  'time:own-clock': {
    behaviour:
      'A process goes by its own clock, and a wrong clock of another process neither ends nor delays what it did not queue.',
  },
  'time:sender': { behaviour: 'A producer whose clock is a year off neither expires nor delays what it queues.' },
  'time:witness': {
    behaviour: 'A process closes nothing as expired and prunes nothing while no other live process has a similar clock.',
  },
  'log:clock': { behaviour: 'The time of a log never runs backwards, even when the clock does.' },
  'log:closes-once': { behaviour: 'An id closes once per conversation.' },
  'log:fork': { behaviour: 'A fork keeps what is open, with the same ids.' },
  'log:retention': { behaviour: 'Retention prunes closed records; the rest of the log replays to the same open set.' },
  'log:allowlist': {
    behaviour: 'Only the chat and tool records reach a request to a provider.',
  },
  'log:redacted-carrier': {
    behaviour: 'A carrier that the provider refuses is replaced by one line.',
  },

  // Stores.
  'store:contract': { behaviour: 'Every store passes the whole contract suite.' },
  'store:thread': {
    behaviour:
      'A database in a thread of its own commits what waits together, answers each caller for itself, and stops nobody when its lock is held.',
  },
  'store:thread-quiet': {
    behaviour: 'The thread says at once whether a conversation is quiet, for each commit of another process.',
  },
  'store:frozen-disk': {
    behaviour:
      'A disk that is frozen, or a lock that is held, delays no call by more than 300 ms; what waits arrives afterwards, once.',
  },
  'gate:unwritable': {
    behaviour:
      'A gate that is known to be up refuses calls also while nothing can be written: a pause until it is lifted, a critical for the calls of its batch.',
  },
  'lease:client-died': {
    behaviour: 'A client that is killed within 250 ms of an answer: the next session hears it again, flagged. Over HTTP this needs a connection that stays open.',
  },
  'store:no-starving': { behaviour: 'Against two producers without pause a carrier wins within 200 ms.' },
  'store:processes': { behaviour: 'Several processes on one file append exactly: nothing lost, nothing torn.' },
  'store:half-deleted': {
    behaviour:
      'When the main file, its -wal or its -shm is deleted, replaced or truncated while processes use it, no acknowledged record is lost without a line that says so.',
  },
  'store:kill-9': { behaviour: 'A database is sound when it is opened again after kill -9 between any two writes.' },
  'store:refuses': { behaviour: 'A network file system, an old SQLite and a foreign file are refused with the way out.' },
  'store:private': { behaviour: 'The database file is readable by its user only.' },
  'store:upgrade': {
    behaviour: 'A database of release 0.0.0 opens: what waits, gates, mutes and the name of its project stay as they are.',
  },
  'store:schema': { behaviour: 'The schema after all migrations is the golden one.' },
  'store:watch': { behaviour: 'A watcher in another process sees each record once, in order, without losing any.' },
  'store:unread-check': { behaviour: 'Whether anything is open is answered by an index, in at most 10 ms over 1,000 open.' },
  'faults:points': {
    behaviour: 'The process ends at each named write boundary (20 times each in npm run faults): 0 lost, 0 closed twice.',
  },
  'faults:random': { behaviour: 'Random kill -9 with four processes on one file: 0 lost, 0 closed twice.' },
  'faults:checker': { behaviour: 'The checker of the fault runs catches three bugs that were put in on purpose.' },
  'faults:system': {
    behaviour:
      'kill -9 over hosts, gateways, server, library users and commands together: nothing acknowledged is lost, no repeat lacks its flag, no tool output is changed, no call passes a gate.',
  },
  'faults:system-checker': {
    behaviour:
      'The checker of the system storm reads only what clients received and producers were told. Each of its rules is seen to break.',
  },

  // Delivery.
  'delivery:once': { behaviour: 'Where we own the transcript a notification is delivered exactly once.' },
  'delivery:everything-due': { behaviour: 'A carrier takes everything that is due at once, and nothing twice.' },
  'delivery:nothing': { behaviour: 'With nothing open the carrier is unchanged.' },
  'delivery:whole': { behaviour: 'The carrier holds the whole notification and the text that was sent.' },
  'delivery:carriers': { behaviour: 'User messages, tool results and failing tool results carry.' },
  'delivery:other-process': {
    behaviour: 'What another process queued is in every tool result whose offer starts after the queue returned.',
  },
  'delivery:thousand-calls': {
    behaviour: 'Exactly once over 1,000 calls, 8 in flight, two gateways of one conversation.',
  },
  'delivery:two-carriers': { behaviour: 'Two carriers of one conversation never both take a notification.' },
  'lease:repeated': {
    behaviour: 'Killed between offer and confirm: offered again with the same id and item text, flagged as repeated.',
  },
  'lease:released': { behaviour: 'A cancelled request or a write that failed releases what was offered.' },
  'lease:answered': {
    behaviour: 'A cancel of a request that was answered in full is ignored: nothing is repeated, and a pull lowers the gate.',
  },
  'lease:dead-owner': { behaviour: 'The lease of a dead process is free at once, that of a living one after its time.' },
  'lease:late-confirm': { behaviour: 'A late confirm is recorded and flagged, never a second close.' },
  'lease:withdrawn': {
    behaviour:
      'What was withdrawn or expired after an offer is not offered again: maybe seen. The rest of its line comes again without it, flagged.',
  },
  'delivery:verdict': {
    behaviour: 'why begins with one verdict in a sentence. The verdict is true of who is there now, and its cure works.',
  },
  'delivery:receipts': { behaviour: 'why(id) tells how far a notification got and the reason of each decision.' },
  'delivery:in-turn-reply': { behaviour: "A person's reply inside of a turn carries." },
  'delivery:batch': { behaviour: 'A batch of tools carries once, with its last response.' },
  'delivery:idle': { behaviour: 'An idle agent gets one combined request.' },
  'force:between-turns': { behaviour: 'A critical between turns makes a system request.' },
  'force:mid-stream': {
    behaviour: 'A critical aborts the stream; what is finished is kept, and retries do not fire.',
  },
  'force:during-tools': { behaviour: 'A critical during tools rides on their responses.' },
  'force:no-loops': {
    behaviour: 'An id wakes once; what an agent caused itself never wakes it.',
  },

  // Our own agent, over the wire of each API.
  'agent:wire': { behaviour: 'Every request is one that the real API takes; the validator that says so rejects wrong ones.' },
  'agent:aborts': { behaviour: 'Of an answer that is cut off all is kept that the API takes back, and nothing else.' },
  'agent:prefix': {
    behaviour: 'A prefix once sent never changes by a byte, through reasoning, notifications, aborts and restarts.',
  },
  'agent:refusals': {
    behaviour:
      'A request that the provider refuses loses no notification: the next one that succeeds has it, once, unless the provider takes it only without.',
  },
  'agent:cache': {
    behaviour: "At Anthropic each request of a conversation finds the whole of the one before in the provider's cache.",
  },
  'agent:keys': {
    behaviour:
      "Keys of providers and tokens of ours reach neither the agent's commands nor its MCP servers, unless a person names them.",
  },
  'gate:unfiltered': {
    behaviour: "No mute and no setting takes a person's pause, cancel, resume or critical out of the plan or the gate.",
  },
  'agent:no-person': {
    behaviour: 'A command that our agent runs speaks for the agent: as no person, at most at error, and it lifts no order.',
  },
  'handles:ends-with-agent': {
    behaviour: 'A command that a call waits for ends with its agent, after kill -9 too.',
  },
  'agent:mcp-results': {
    behaviour:
      'A long result of an MCP tool is cut in the middle and kept in a file; structured content and pictures are not dropped.',
  },
  'agent:endings': {
    behaviour:
      'An answer that is cut off, refused or broken is told as that, to a person, a script and a library; cut-off calls do not loop.',
  },
  'agent:stop': {
    behaviour: 'A stop ends the turn, before it begins and right behind another interruption too.',
  },
  'agent:kill-9': {
    behaviour:
      'Killed anywhere and resumed: each notification once in the transcript, each call paired, each request an extension.',
  },

  // Agents of the AI SDK.
  'ai-sdk:once': {
    behaviour:
      'In an agent of AI SDK 6 or 7 a notification is in one message of its transcript: a batch of parallel calls carries once, a failing tool too.',
  },
  'ai-sdk:prefix': {
    behaviour:
      'With the adapter for AI SDK 6 and 7 each request begins with the bytes of the one before, and a tool keeps its output.',
  },
  'ai-sdk:interrupt': {
    behaviour:
      'A critical cuts off the answer of an AI SDK agent; the same turn goes on with the finished steps, the partial text and the critical.',
  },
  'ai-sdk:gate': {
    behaviour: 'The tools of an AI SDK agent are refused while an interrupt is unread, and run again in the next step.',
  },
  'ai-sdk:receipts': {
    behaviour:
      'A notification in an AI SDK agent counts as delivered when the caller keeps its message; after a kill before that it rides again.',
  },

  // The plan.
  'plan:decides-all': { behaviour: 'The plan decides about each open notification exactly once, with a reason.' },
  'plan:order': { behaviour: 'Critical, error, warning, info; the oldest first inside of a level.' },
  'plan:rendered': {
    behaviour: 'What templates make of lines is what the token budget counts, and none of it is cut away for it.',
  },
  'plan:budget': { behaviour: 'A budget never cuts error and above; the rest is summarized with how many and where to read it.' },
  'plan:pure': { behaviour: 'The same input gives the same plan and the same view.' },
  'plan:filter-source': { behaviour: 'A source that is off does not ride.' },
  'plan:filter-name': {
    behaviour: 'A name that is off does not ride; the flat form "source.name" wins over a name like enable.',
  },
  'plan:filter-tool': { behaviour: "A producing tool's notifications are off for that tool only." },
  'plan:master-switch': { behaviour: 'With the master switch off nothing rides; by default all of it does.' },
  'plan:filtered-recorded': { behaviour: 'A filtered notification is in the log all the same, and requeue brings it back.' },
  'plan:relevance': { behaviour: 'What expired, was withdrawn or is already known does not ride.' },
  'plan:supersede': { behaviour: 'Of one key that supersedes, only the newest state rides.' },
  'plan:moment': {
    behaviour: 'What waits for a moment stays open until it is due, after so many turns, at a time, or when it waited too long.',
  },
  'plan:coalesce': {
    behaviour: 'One key, or one source inside its window, becomes one line that keeps the count and what differs.',
  },
  'plan:critical': { behaviour: 'A critical is neither delayed, nor batched away, nor summarized.' },
  'queue:fold': { behaviour: 'Queued onto an open key that was never offered, it adds to the count.' },
  'queue:max-open': {
    behaviour: 'Beyond maxOpen the oldest of the lowest level are dropped, with one summary of what and how many.',
  },
  'queue:mute': { behaviour: 'A muted kind is silent until its time is over.' },
  'queue:expiry': { behaviour: 'Each level has its time to live; critical has none.' },
  'queue:redact': {
    behaviour: 'What a redact pattern matches in a message, instruction, data or withheld result is not stored.',
  },
  'queue:patterns': {
    behaviour:
      'A redact pattern takes time linear to the text, whoever wrote it. While a pattern is invalid, whole texts are redacted instead.',
  },
  'queue:handles': { behaviour: 'A handle that was polled or awaited raises no notification.' },
  'queue:many': { behaviour: 'A hundred different errors at once are queued without waiting for a timer (SC-004).' },

  // Views.
  'view:markdown': { behaviour: 'Markdown by level, with its preamble and rules.' },
  'view:xml': { behaviour: 'XML per item, and one batch with its count.' },
  'view:toon': { behaviour: 'A TOON table for many, the line form for one.' },
  'view:json': { behaviour: 'JSON that parses to what was queued.' },
  'view:data': {
    behaviour: "A sender's data stands as JSON behind the message; where it is too long, the line says where to read it.",
  },
  'view:budget': {
    behaviour: 'One item that is longer than a carrier may be is cut to it, says so, and can be had whole.',
  },
  'view:signal': { behaviour: 'The signal texts in English and Japanese, byte for byte.' },
  'view:hostile': { behaviour: 'No body passes for a notification of ours, breaks a view, or floods it.' },
  'view:look-alikes': {
    behaviour:
      'A body that writes our frame with look-alike letters, slashes or brackets, or with spaces between them, is escaped too.',
  },
  'mark:instructions': {
    behaviour:
      'The mark is in the instructions of every gateway of an agent before the first frame, behind the own of the server.',
  },
  'mark:frame': {
    behaviour:
      'Where a client shows no instructions the first frame explains the mark, and again in the conversation after /clear.',
  },
  'mark:stable': { behaviour: 'An agent keeps its mark until earpiece trust --new-mark; what was sent keeps the mark it had.' },
  'view:stable': { behaviour: 'What was sent is stored and never rendered again.' },
  'view:tokens': { behaviour: 'The default view keeps to its token bars on the committed corpus.' },
  'view:templates': { behaviour: 'A failing template falls back, and nothing is lost.' },

  // The gate.
  'gate:no-id': {
    behaviour: 'A tools/call without an id does not pass a gate that is up, and is never given to one of several servers.',
  },
  'gate:refuses': { behaviour: 'Of 8 calls made after an interrupt none reaches the upstream server.' },
  'gate:one-text': { behaviour: 'All refused calls get the same id and text: one delivery, the others repeats.' },
  'gate:lowered': { behaviour: 'get_notifications lowers the gate, as do withdraw, resume and expiry.' },
  'gate:batch': {
    behaviour: 'A serial batch of calls is refused whole: the gate does not fall within a second of its last refusal.',
  },
  'gate:asked-again': {
    behaviour: 'Without get_notifications, a critical and a cancel fall at a call that begins a second after the last refusal.',
  },
  'gate:model-asked': {
    behaviour: 'A critical and a cancel fall when the host shows that its model was asked with the refusal.',
  },
  'gate:read-unasked': { behaviour: 'An interrupt that get_notifications showed unasked is not refused once more.' },
  'gate:pause': {
    behaviour: 'A pause holds until it is resumed, withdrawn or expires; its refusal names who lifts it and how.',
  },
  'gate:expired': {
    behaviour:
      'An interrupt whose time is over is told as expired and its gate as down, by why, inbox, agents, the API and the console; a refusal of a pause says until when it holds.',
  },
  'gate:withdrawn': { behaviour: 'Withdrawing a delivered interrupt lowers its gate and says so, with exit code 0.' },
  'gate:resume': { behaviour: 'earpiece resume lifts pauses, names what it lifted, and wakes; with none it says so.' },
  'gate:before': { behaviour: 'A call that already runs returns its result and the interrupt.' },
  'gate:after': { behaviour: 'With interrupt "after" the side effect happened once and its result is readable later.' },
  'gate:purpose': { behaviour: 'An action goes to each active conversation of matching purpose, once.' },
  'gate:own-tools': { behaviour: 'Our own tools always pass.' },

  // Whose conversation.
  'address:agent': {
    behaviour: "project/agent is taken by the agent's first conversation that carries; a conversation only by itself.",
  },
  'address:fan-out': { behaviour: 'project/* reaches each active conversation once, no ended one, also when it was cut off.' },
  'address:nobody': { behaviour: 'When nobody is there the error says what to do.' },
  'address:windows': { behaviour: 'Two windows of one agent are two conversations.' },
  'address:clear': { behaviour: 'After /clear what waits goes to the new session of the same process.' },
  'address:order': {
    behaviour:
      "A flag wins over the binding of the host process, the binding over the host's session variable, that over the process, else one #main per agent.",
  },
  'address:standing': {
    behaviour:
      'A critical notification or an action to project/* also reaches conversations that begin while it is open, once each.',
  },
  'presence:active': {
    behaviour:
      'A conversation that has ended, or whose process is dead, is not active at once, for every command and the server.',
  },
  'presence:health-check': {
    behaviour: 'A connection that called no tool and is gone was no conversation: nothing is left with it.',
  },
  'succession:heir': {
    behaviour:
      'What a conversation has not read when it is over passes on to the next one of its agent that begins in the same worktree, once.',
  },
  'succession:gate': { behaviour: 'A gate that was up stays up for the heir: a resume or a restart escapes nothing.' },
  'succession:merge': {
    behaviour: 'The conversations of one host process are one: offers, gate and reads of the former go over.',
  },
  'succession:told-once': {
    behaviour: 'Of a line to all, no copy passes on to the heir of a conversation that was told.',
  },
  'succession:told': { behaviour: 'agents and why tell from whom to whom a notification passed on, and why.' },
  'address:tokens': {
    behaviour:
      'A connection reads and reports for its own conversation only; an address is no session token; why names who read.',
  },
  'address:other-agent': { behaviour: 'What is for another agent stays.' },

  // The gateway.
  'gateway:identical': {
    behaviour: 'With nothing open every tool of two real servers answers byte for byte as without the gateway.',
  },
  'gateway:forged-answers': {
    behaviour:
      'An answer of a server passes once, to a request that this very server was sent; any other is dropped and told once.',
  },
  'gateway:tools-list': { behaviour: 'What a profile changes in tools/list is a golden file.' },
  'gateway:oddities': { behaviour: 'Odd JSON passes unchanged: 1.0, 2^53+1, duplicate keys, \\u0041, 1e400.' },
  'gateway:conformance': { behaviour: 'The conformance suite gives the same verdicts direct and through the gateway.' },
  'gateway:stateless': { behaviour: 'The stateless protocol gives the same answers direct and through the gateway.' },
  'gateway:inspector': { behaviour: "The inspector's command line lists and calls through the gateway." },
  'gateway:profiles': { behaviour: 'Blocks, extend and strip change the result as they say, and nothing else of it.' },
  'gateway:max-result': { behaviour: 'A result that is too big with its view is no carrier, and the delivery goes back.' },
  'gateway:restart': { behaviour: 'A crashed server is started again; open calls are answered and the next call works.' },
  'gateway:partial-frame': {
    behaviour:
      'A server that dies in the middle of a frame: the client gets no part of it, and an error frame on a line of its own.',
  },
  'gateway:mcp-events': {
    behaviour: 'A server that drops queues mcp.disconnected, withdrawn when it is back with mcp.reconnected.',
  },
  'gateway:no-orphans': { behaviour: 'The gateway ends with its client and leaves no process behind.' },
  'gateway:store-trouble': { behaviour: 'Without its store for 250 ms the call passes unchanged, with one line on stderr.' },
  'gateway:fronts-many': { behaviour: 'It fronts all servers of a configuration; names are prefixed and collisions an error.' },
  'gateway:reach': { behaviour: "doctor says which of a host's own tools carry nothing where only a gateway carries." },
  'gateway:streams': {
    behaviour: 'A listen or an event stream stays open over a restart of its server, and goes on from its last cursor.',
  },
  'gateway:starts-apart': {
    behaviour:
      'Of several servers a slow, hanging or broken one delays and hides no other: what is there is listed, the rest comes with list_changed.',
  },
  'gateway:starts-early': {
    behaviour: "A wrapped server starts before the gateway's own code is loaded, and ends with a command line that is refused.",
  },
  'gateway:late-instructions': {
    behaviour:
      'The instructions of a server that starts after the handshake reach the agent as one notification, in the words of that server.',
  },
  'gateway:lists-once': {
    behaviour:
      'A client that reads its list of tools once (Codex, Qwen Code) gets it when all servers have started or failed, or after 12 s.',
  },
  'gateway:broken-server': {
    behaviour:
      'A server that does not start is told to the agent once, with its exit code and its stderr, and is withdrawn when it works; doctor names it.',
  },
  'gateway:left-out': {
    behaviour:
      'A server that cannot be started as it is configured (a variable is not set) is told like one that fails; the others keep working, and the names of their tools stay.',
  },
  'gateway:after-names': {
    behaviour: 'after:<tool> takes the name that the client lists, server:tool, and the name that the server gives its tool.',
  },
  'gateway:stopping': {
    behaviour: 'A call over HTTP that is in flight when the gateway is stopped gets an answer that says so.',
  },
  'gateway:http': { behaviour: 'Streamable HTTP listens on 127.0.0.1, checks Origin, Host and the bearer token.' },
  'gateway:print': {
    behaviour:
      '--print writes the line that installs it in each client, with each option and the database of the shell, and its undo.',
  },
  'gateway:names': { behaviour: 'A server without a name gets that of its package, image, module, script or host.' },
  'gateway:fuzz': { behaviour: 'No crash and no hang in the framing, however the bytes are cut or damaged.' },

  // The pull model.
  'pull:newest-first': { behaviour: 'get_notifications answers newest first, scoped to project, agent and conversation.' },
  'pull:read-once': { behaviour: 'Read on fetch: a second fetch is empty; mark_as_read = false keeps them.' },
  'pull:repeated': {
    behaviour:
      'What it shows again, after a frame that may have arrived, or while another carrier holds it, says that it repeats.',
  },
  'pull:due': { behaviour: 'A notification with a time, such as a reminder, is not pulled before that time.' },
  'pull:rest': { behaviour: 'It also gives what a budget summarized and results that were withheld.' },
  'pull:fields': { behaviour: 'Its fields are id, type, action, message, instruction, created_at and task_id.' },
  'pull:signal': { behaviour: 'In signal mode the notification field is in every result, and repeats until it is read.' },
  'pull:name': { behaviour: 'It is renamed deterministically when the upstream has that name.' },
  'pull:report-completed': {
    behaviour: "report_completed(blocked) after a person's block succeeds and closes the execution log.",
  },

  // Real clients.
  'hosts:install': {
    behaviour:
      'Installing changes only our own entries in the settings of an agent, asks before, and says of settings that it cannot change why.',
  },
  'hosts:uninstall': {
    behaviour:
      'Uninstalling gives back the bytes before the installation; in a file that was changed since, only our entries go.',
  },
  'hosts:installed': {
    behaviour:
      'After earpiece install the real agent hears a notification with its built-in tools, and the doctor finds nothing wrong.',
  },
  'hosts:doctor': {
    behaviour:
      'The doctor sends a test notification through the installed hook of each agent, and names what keeps it from arriving, with the way out.',
  },
  'hosts:claude-code': { behaviour: "Claude Code's raw request holds the notification once, at the right result." },
  'hosts:codex': { behaviour: "Codex's raw request holds the notification once, at the right result." },
  'hosts:sessions': {
    behaviour:
      'In long sessions of six real agents each notification is read once or flagged, also after a kill of the gateway or of the agent.',
  },
  'hosts:gate': {
    behaviour:
      'In front of six real agents a batch of writing calls is refused whole, an agent that never pulls works on, and a pause holds until a person lifts it.',
  },
  'hosts:hold': {
    behaviour: 'An error holds the end of a turn of Claude Code, at most three times in a row; no turn is held for ever.',
  },
  'hosts:hook-trouble': {
    behaviour:
      'A hook that goes wrong never stops its agent: it prints nothing, says one line on stderr and ends with 0, also where its folder is gone, its command line is wrong or its input never ends.',
  },
  'gateway:gone-folder': {
    behaviour: 'A gateway and earpiece mcp serve in a working folder that is gone, and say in which folder they work instead.',
  },
  'hosts:distinct-sessions': {
    behaviour: 'Two session ids of a host are two conversations, also where their characters are not allowed in an address.',
  },
  'hosts:lean': {
    behaviour: 'A hook call with nothing open loads eleven small files and prints nothing; it writes a sign of life every 30 s.',
  },
  'hosts:served': {
    behaviour:
      "Claude Code's batch ends are answered by the running earpiece mcp, without a process; where that server is missing or killed, the hook before the next tool carries.",
  },
  'hosts:quiet-mark': {
    behaviour:
      'While nothing waits for a session, the hook before a tool ends in its shell; any change of the database starts it.',
  },
  'hosts:evidence': {
    behaviour:
      "What a hook delivered to Claude Code, Codex or Qwen Code is looked for in the agent's own transcript, and recorded as observed.",
  },
  'hosts:lost': {
    behaviour:
      'What a hook printed comes again, flagged, when the hook is killed before it confirms, or the agent before it asks its model.',
  },
  'hosts:wake-claude': {
    behaviour:
      'An idle Claude Code wakes by itself for what may wake it and hears it once; one waiter a process, and none outlives it or wakes another session.',
  },
  'hosts:clear': { behaviour: 'After /clear in a real terminal the new context holds the mark, and what waits arrives once.' },
  'hosts:plugins': {
    behaviour:
      'opencode and pi with our plugin read each notification once among built-in and wrapped tools, and a pause stops the very next call of any tool.',
  },
  'hosts:wake': {
    behaviour:
      'An idle opencode or pi wakes by itself for what its policy lets wake, once for each thing; a critical ends the request that streams.',
  },
  'hosts:bridge': {
    behaviour:
      'A bridge that is killed, hangs or is missing stops no agent: it is said once, another one starts, and nothing is lost or repeated without a flag.',
  },
  'hosts:hooks': {
    behaviour:
      'A session of built-in tools of a real agent with our hooks reads each notification once, at the documented place, and no earlier message changes.',
  },
  'hosts:one-conversation': {
    behaviour: 'Hooks and a wrapped MCP server of one session carry for one conversation: each notification is read once.',
  },
  'hosts:hook-gate': {
    behaviour:
      'A pause denies the very next call of a built-in tool, holds until a person lifts it, and a critical falls when it is read.',
  },
  'hosts:wake-codex': {
    behaviour:
      'An idle Codex terminal wakes by its own queue for what its policy lets wake, once, and one process waits beside it.',
  },
  'hosts:hook-resume': {
    behaviour: 'What waits when an agent with our hooks is killed is read once in its resumed session.',
  },
  'hosts:shapes': { behaviour: 'Also for a tool with outputSchema, a failing one and a 60 kB result.' },

  // Configuration and command line.
  'config:forms': { behaviour: 'Both filter forms and both shapes of per-tool tables mean the same.' },
  'config:unknown-key': { behaviour: 'An unknown key is an error with line, column and "did you mean".' },
  'config:explain': { behaviour: 'config explain says who decided each value.' },
  'config:live': { behaviour: 'A changed file counts from the next contact point; a broken one keeps the old and says so once.' },
  'config:trust': { behaviour: 'What a cloned repository would run or open waits for its user to trust it.' },
  // Settings that a person changes, in whose file they are kept.
  'config:set': {
    behaviour: 'A setting is changed in its file, as it is spelled there; comments, order and layout stay byte for byte.',
  },
  'config:set-refused': {
    behaviour:
      'What is no setting or no value is refused as the loader would, a file that is wrong with its place; nothing is changed.',
  },
  'config:set-safe': {
    behaviour:
      'A change is whole or not at all, follows links, keeps the mode, and loses nothing of somebody else at the same time.',
  },
  'cli:private': {
    behaviour: 'Cache folder, state folder, database and tokens are for their owner only, whatever the umask.',
  },
  'cli:odd-files': {
    behaviour: 'A device, a pipe, a folder or a file above its limit, where a file is read, is an error and takes no memory.',
  },
  'cli:large': {
    behaviour:
      'The command line works on logs of any length: inbox pages, db check and doctor show progress, db prune gives space back.',
  },
  'cli:send-wait': { behaviour: 'send --wait delivered answers with an exit code that scripts can use.' },
  'cli:commands': { behaviour: 'Each command does what its help says, with --json too.' },
  'cli:inbox': {
    behaviour: 'The inbox of a person lists what will be delivered, in the words of its subscriber, without superseded states.',
  },
  'cli:completion': { behaviour: 'In bash, zsh and fish Tab completes commands, options and their values.' },
  'cli:exit-codes': { behaviour: 'Each documented exit code is the one given.' },
  'cli:reader-gone': {
    behaviour: 'A command whose output has lost its reader ends in silence, with the exit code of what it did.',
  },
  'cli:bad-input': { behaviour: 'Bad input gets one exact message with the way out, and never a stack trace.' },

  // Our own agent, as people and scripts lead it.
  'chat:pending': { behaviour: 'What waits is shown as waiting until it rides, and then where it rode.' },
  'chat:interrupt': { behaviour: 'Ctrl+C in a turn asks: stop, reply, continue; twice stops, once more quits.' },
  'chat:safe': { behaviour: 'Nothing that a model, a tool or a notification says steers the terminal.' },
  'chat:fork': { behaviour: 'A conversation begins as another one is or was, and the model is sent the same history.' },
  'chat:resume': {
    behaviour: 'After kill -9 a conversation goes on with its turn, and the model is sent what it was sent before.',
  },
  'chat:scripts': { behaviour: 'Without a terminal lines are messages; with --json events come out and messages go in.' },
  'chat:ends': { behaviour: 'A signal ends the agent and all that it has started.' },
  'chat:sub-agents': { behaviour: 'What is queued for an agent never reaches the agents that it starts, nor theirs it.' },
  'run:exit-codes': { behaviour: 'earpiece run ends with how its turn ended: 0, 1, 3, 130.' },

  // Subscriber files.
  'bus:discovery': {
    behaviour: 'A new file loads, a bad one is skipped with a line, a removed one is gone.',
  },
  'bus:checked': {
    behaviour:
      'What is wrong with a subscriber file is told with line, column and the way out; a file that is right loads whole.',
  },
  'bus:shipped': {
    behaviour: 'The shipped subscribers load without a problem and say each event in their words, whatever is in it.',
  },
  'bus:locked': { behaviour: 'A subscriber of the core cannot be disabled, and the refusal says why.' },

  'bus:disabled': { behaviour: 'A disabled subscriber queues nothing from the next event on; one of the core goes on.' },
  'bus:window': { behaviour: 'Failures within 5 s are one notification with all details.' },
  'bus:order': {
    behaviour: 'What is written of one key into one log is written in the order in which it came, withdrawals too.',
  },
  'bus:counts': { behaviour: 'What repeats is counted, never dropped; details that differ are all kept.' },
  'bus:scoped': { behaviour: 'An event reaches its subject and nobody else.' },
  'bus:moments': { behaviour: 'What a subscriber injects immediately, at a turn, after a tool or at its end rides just then.' },
  'bus:withdraws': { behaviour: 'When the state is gone, what was queued because of it is taken back.' },
  'bus:storms': { behaviour: 'A storm becomes one line that counts all of it.' },
  'bus:storms-taken-back': { behaviour: 'What a storm only counted is taken off its count when it is over.' },
  'bus:repeats': {
    behaviour: 'A repetition within the dedupe window is told when that is over, also where another process told the first.',
  },
  'bus:own-defects': { behaviour: 'None of the faults of the seed that this design began with is there.' },

  // Templates of subscribers.
  'bus:templates-safe': {
    behaviour:
      'A template that loops, eats memory, recurses or reaches out is refused in 250 ms; the next renders, nobody was blocked.',
  },
  'bus:toon-filter': { behaviour: 'What toon_encode writes, the official decoder reads back as it was.' },

  // Sources: files and repositories.
  'sources:files': {
    behaviour:
      'What others do to files that the agent has read is told, its own writes are not, and what is put back is taken back.',
  },
  'sources:git': {
    behaviour: 'Switched branches, a moved upstream and conflicts of a repository are told, what the agent itself did is not.',
  },

  // The web console, in a real browser.
  'console:history': { behaviour: 'The console shows what waits and what was delivered; opening it triggers nothing again.' },
  'console:login': { behaviour: 'The address that the server prints logs one browser in, once, and leaves no code behind.' },
  'console:agents': {
    behaviour: 'The page Agents shows who is there, what each agent does and how much is open by level, as it changes.',
  },
  'console:moves': {
    behaviour:
      'An open notification stands dashed below and moves to the place where it rode. With reduced motion it stands there at once.',
  },
  'console:why': {
    behaviour: 'Why shows the rule, the plan, the carrier, the receipts and exactly what was sent, to be copied.',
  },
  'console:person': {
    behaviour: "A person's message, pause, resume and stop are pending until the log has them, and say what they do.",
  },
  'console:subscribers': {
    behaviour:
      'Three clicks switch a subscriber off, from the next event on. A core subscriber is locked, and the page gives the reason.',
  },
  'console:settings': {
    behaviour:
      "The page changes a setting in a person's own file. It says who decides, and that the change counts from the agent's next carrier.",
  },
  'console:verdict': { behaviour: 'Why begins with one verdict in a sentence, and its cure is a button that works.' },
  'console:places': { behaviour: 'The places and the filter of agents are in view with 60 agents, at 1280 and at 390 pixels.' },
  'console:mute': {
    behaviour: 'A card mutes its kind for an hour, for today or for ever. The page lists what is muted and lifts it.',
  },
  'console:toon': {
    behaviour: 'The console shows TOON as a table. TOON that does not parse is shown as it was sent, as plain text.',
  },
  'console:tasks': {
    behaviour: 'A click blocks or unblocks a task. The page shows whom the click interrupts, and what came of it.',
  },
  'console:activity': { behaviour: 'Each point of a chart leads to the notifications behind it.' },
  'console:resumes': {
    behaviour: 'A reload and a restart of the server lose nothing on the page, and the page says when it is not live.',
  },
  'console:text': { behaviour: 'The console shows whatever a producer controls as text, in every field of every page.' },
  'console:accessible': { behaviour: 'axe finds no serious fault on any page, light and dark, at 1280 and at 390 pixels.' },
  'console:small': { behaviour: 'The console is under 150 kB gzipped, asks only its own server, and has nothing inline.' },
  'console:keys': { behaviour: 'The keyboard reaches everything, and the focus is always visible.' },
  'console:search': {
    behaviour: 'A search finds words in the whole log, whatever part of it the page shows, and each place is a link.',
  },
  'console:forks': {
    behaviour: "A conversation's page has the command that forks it at any turn, and links to its origin and its forks.",
  },
  'console:long': {
    behaviour:
      'However long a conversation is and however much waits, a person can read all of it, and the page holds a part of it.',
  },
  'console:phone': {
    behaviour: 'On a phone a finger reaches everything, and no text of a producer pushes anything out of the page.',
  },
  'console:hands': {
    behaviour: 'Records that come late, twice or in between take nothing from a person: no typed word, no focus, no choice.',
  },
  'console:teaches': { behaviour: 'An empty page says why it is empty and what to do next.' },

  // The server, its client and its tokens.
  'server:routes': { behaviour: 'Each route does what its page says, over real HTTP and through the typed client.' },
  'server:search': {
    behaviour: 'A search finds words in the whole log, a bounded part at a time. Each answer says how far back it looked.',
  },
  'server:forks': { behaviour: 'A conversation says what it was forked from and what was forked from it.' },
  'server:bad-input': {
    behaviour: 'Bad input is answered with a problem (RFC 9457) that names the field, the value and the way out.',
  },
  'server:idempotent': { behaviour: 'A notification that is sent again with its Idempotency-Key is queued once.' },
  'server:resume': {
    behaviour: 'With 1,000 streams and a server that is killed and started again, each stream has every record once, in order.',
  },
  'server:stop': { behaviour: 'A graceful stop ends the streams, finishes what is in flight and ends with 0.' },
  'server:openapi': {
    behaviour: 'The OpenAPI document is valid, lists every route, says what the server answers, and a client made of it works.',
  },
  'server:settings': {
    behaviour:
      "Settings say who decides each of them and how to change it. A change is written to the user's or the project's file.",
  },
  'server:settings-refused': {
    behaviour:
      'Only an admin changes settings. No setting that runs, opens or moves anything can be changed, and a wrong value changes nothing.',
  },
  'server:settings-at-once': { behaviour: 'Of many changes at the same time none is lost.' },
  'server:settings-live': {
    behaviour:
      'Every running process obeys a changed setting from its next carrier on, in every project that the setting is for.',
  },
  'server:pages': {
    behaviour:
      'A page of a list holds at most about 512 kB of JSON, or one larger record, and all pages together hold everything once.',
  },
  'server:unread-streams': {
    behaviour:
      'With thousands of streams that nobody reads, the server refuses streams above the cap and answers requests, and other streams lose no record.',
  },
  'server:lifted': { behaviour: 'A resume over HTTP answers with the pauses that it lifted.' },
  'config:broken-redact': {
    behaviour: 'While a file that sets redact cannot be parsed, texts are redacted whole.',
  },
  'config:bounded': {
    behaviour: 'No text of 1 MB keeps a reader of TOML busy: long keys, deep values and very many entries are refused.',
  },
  'config:links': {
    behaviour: "A project's configuration that is a link out of the project is refused without its content.",
  },
  'store:unused': { behaviour: 'Where prune cannot shrink a large database of 0.0.0 it says so, and how to shrink it.' },
  'server:many-agents': { behaviour: 'A page of 10,000 agents with 100 open each is one indexed query.' },
  'server:cli': { behaviour: 'With --server the commands say of a server what they say of the database.' },
  'server:events': {
    behaviour: 'CloudEvents and signed webhooks reach the subscribers. One invalid event rejects the whole batch.',
  },
  'server:subscribers': {
    behaviour: 'HTTP lists subscribers, switches them and tries them. A core subscriber is refused with the reason.',
  },
  'server:test': {
    behaviour:
      'A test of a subscriber shows the text and sends nothing. With `to`, one agent gets it, marked as a test, at level info.',
  },
  'store:closed-in': { behaviour: 'An index finds what was closed in a period of time, however long the log is.' },
  'server:times': {
    behaviour: 'Lists, charts and searches take a period of time and look only at that period, however much came since.',
  },
  'server:mutes': {
    behaviour: 'HTTP and the command line mute a kind for one agent, until a time or until somebody lifts the mute.',
  },
  'server:activity': {
    behaviour: 'Charts count what was queued, what was delivered and what waits. Settings and tokens show no secret.',
  },
  'server:command': {
    behaviour: 'earpiece serve logs browsers in, refuses to be open without a token, and is loaded by nothing else.',
  },
  'server:many-streams': {
    behaviour:
      'Thousands of streams hold up no request. Writes go in turns, and a reader that takes nothing is cut off with bounded memory.',
  },
  'server:security': { behaviour: 'Each attack of the table in docs/server.md is tried, and ends as the table says.' },
  'server:tokens': { behaviour: 'A token does what its kind may do, at most at its level, and stops the moment it is revoked.' },

  // The package.
  'package:old-node': { behaviour: 'Every entry point says in one line on an older Node what it needs, and exits 1.' },
  'package:subpaths': { behaviour: 'Every subpath can be imported, and required, with the declared dependencies alone.' },
  'package:layers': { behaviour: 'The arrows between the rooms point inward; the core has no clock, chance or I/O.' },
  'package:replaced': {
    behaviour:
      'A long-lived process goes on when an upgrade replaces its files. Where they are removed it says so once, and what needs a template comes in plain words.',
  },
  'package:first-example': { behaviour: 'The first example runs with no service and no key and prints what the README says.' },
  'package:snippets': { behaviour: 'Every snippet in the README and docs comes from a tested file.' },
  'package:start': { behaviour: 'npm start shows the first delivery in under 20 seconds, with no key, service or terminal.' },

  // Timers, processes and webhooks, and their commands.
  'sources:processes': { behaviour: 'A command runs as if alone, and an agent is told how it ended with its last lines.' },
  'sources:timers': { behaviour: 'A reminder survives everything and rides at the first contact point after its time, once.' },
  'sources:webhooks-live': { behaviour: 'A webhook that is new, changed, gone or trusted is so for the next request.' },
  'sources:sub-agents': {
    behaviour: 'An agent is told once that one that it started has ended, as of an agent, with its result.',
  },
  'sources:webhooks': {
    behaviour: 'A webhook that is signed as it should be becomes events, once; any other is refused with a reason.',
  },
  'cli:emit': { behaviour: 'emit takes CloudEvents and says who heard them and what came of it.' },

  // What our own agent tells of itself, and itself.
  'sources:failures': {
    behaviour: 'A tool that fails, however, gives one failure or one timeout, in the carrier of its batch.',
  },
  'sources:thresholds': { behaviour: '80 % tokens, 70 % iterations, 70 % context, a loop of 3 of 6: once a query.' },
  'sources:loops': { behaviour: 'The same calls three times in six batches are told, once a turn.' },
  'sources:rate-limits': {
    behaviour: "Little that is left of a provider's limit is told once until it resets, a refusal each time.",
  },
  'self:deferred': { behaviour: 'What an agent tells itself for later arrives then, once, across restarts.' },

  'hosts:in': {
    behaviour:
      'In a terminal of ours an idle agent is woken by one typed line; nothing is typed while it works or its person types.',
  },

  // Agents that talk to each other, and our own MCP server.
  'talk:tell': {
    behaviour: 'An agent reaches the agents of its own project only, below critical, and the message says who sent it.',
  },
  'talk:loops': { behaviour: 'A chain of replies ends, and an agent that sends in a loop is stopped by its quota.' },
  'talk:list': { behaviour: 'list_agents shows the agents of the own project, and none of another.' },
  'talk:when': { behaviour: 'An agent that asked hears once that another agent is idle, or that its session has ended.' },
  'mcp:server': { behaviour: 'earpiece mcp gives an agent without wrapped servers the tools to read, answer and reach others.' },
  'mcp:hooks': {
    behaviour: 'A host that calls the tool `hook` of earpiece mcp gets the answer of the hook command, without a process.',
  },

  // Tasks.
  'tasks:transitions': { behaviour: 'A task goes only where it may; a refusal says where that is, and changes nothing.' },
  'tasks:expected': { behaviour: 'A change that was decided on what is no longer so is refused, and nobody is told.' },
  'tasks:interrupts': {
    behaviour: 'Whoever works on a task that is taken out of their hands is told once, and nobody else is.',
  },
  'tasks:executions': { behaviour: "An execution starts when a task is taken and ends with its agent's report, once." },
  'tasks:blocked': {
    behaviour: "A person's block stops the agent at its next call, and its report closes the execution: under 2 s.",
  },
  'tasks:unblocked': { behaviour: 'What a person takes back before the agent looked never arrives.' },
  'tasks:known-faults': { behaviour: 'None of the known faults of the seed that tasks come from is there.' },
  'tasks:tools': { behaviour: 'Agents get the tools for tasks where there are tasks, and speak by them for themselves alone.' },
  'tasks:own-agent': {
    behaviour:
      'Our own agent has the same tools for tasks as through a gateway, under the same rule, and reads an interrupt once.',
  },
  'tasks:without-tools': {
    behaviour: 'Nobody is asked for a tool that they do not have: an interrupt then says what to do without it.',
  },
  'tasks:retention': {
    behaviour: 'Tasks that are over go after their retention, with all their records, in one step; what is not over stays.',
  },
  'tasks:routes': { behaviour: 'A person leads tasks over HTTP and by the command line; who may not, is refused.' },
  'tasks:hosts': { behaviour: "Claude Code's next call is refused, and its next request holds the interrupt." },
  'tasks:one-step': {
    behaviour: 'What becomes of a task and what is told about it are one append: a kill leaves neither half nor phantom.',
  },
  'tasks:purpose': { behaviour: 'A conversation for talking takes no task, reports none and is told of none.' },
  'tasks:replay': { behaviour: 'The records of a task, of all logs, replay to the task as it is stored.' },
} as const satisfies Record<string, Requirement>;

export type RequirementId = keyof typeof REQUIREMENTS;
