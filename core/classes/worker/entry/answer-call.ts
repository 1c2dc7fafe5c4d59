import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { HealthRule } from '../../../../api/v1alpha1/deployment-policies.ts';
import type { Bundle, BundleDeployment, BundleSource } from '../../../../api/v1alpha1/index.ts';
import type { BundleFiles } from '../../../contracts/bundle-files.ts';
import type { JudgedObject, Verdict } from '../../../contracts/object-judge.ts';
import type {
  DeploymentContext,
  Provisioner,
  ProvisionerContext,
} from '../../../contracts/provisioner.ts';
import type { Source, SourceContext } from '../../../contracts/source.ts';
import { errorMessage } from '../../../errors.ts';
import type { ContentCollector } from '../protocol/frames.ts';
import type { CallMessage, FetchOrigin, HandlerName } from '../protocol/messages.ts';
import { deniedText } from '../protocol/thrown.ts';
import type { Sender } from './sender.ts';

/** A call in its worker process. */
export interface RunningCall {
  readonly message: CallMessage;
  readonly content: ContentCollector;
  readonly abort: AbortController;
  readonly sender: Sender;
}

/** Runs the called function and sends its result; the caller sends its error. */
export const answerWith: Readonly<Record<HandlerName, (call: RunningCall) => Promise<void>>> = {
  bundle: answerWithStored,
  configure: answerWithConfigured,
  deployment: answerWithObjects,
  inputs: answerWithInputs,
  fetch: answerWithContent,
  judge: answerWithVerdicts,
  describe: answerWithDescription,
};

async function answerWithContent(call: RunningCall): Promise<void> {
  const { message, sender } = call;
  const { origin, module } = message;
  if (origin === undefined) throw new Error('the call does not say for which Bundle it fetches');
  const createSource = (await loadModule(module)) as (settings: object) => Source;
  const source = createSource(origin.settings);
  const context = fetchContext(call, origin);
  const { files, resolvedSource } = await source.fetch(message.object as BundleSource, context);
  await sender.send({ type: 'resolved', source: { ...resolvedSource } });
  await sender.sendFiles(files);
}

async function answerWithVerdicts({ message, sender, content }: RunningCall): Promise<void> {
  const judge = (await loadModule(message.module)) as JudgeFunction;
  const verdicts = judge(message.object as readonly HealthRule[], judgedObjects(content.files()));
  const files = verdicts.map((each, at) => [`${at}`, Buffer.from(JSON.stringify(each))] as const);
  await sender.sendFiles({ files: new Map(files), directories: new Set() });
}

/** The default export of a judge's module. */
type JudgeFunction = (
  rules: readonly HealthRule[],
  objects: Iterable<JudgedObject>,
) => readonly Verdict[];

/** Objects arrive as content, in pieces; each name ends in the index of the object's rule. */
function* judgedObjects({ files }: BundleFiles): Generator<JudgedObject> {
  for (const [name, content] of files) {
    const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
    yield { rule: Number(name.split('.')[1]), json: text.toString('utf8') };
  }
}

async function answerWithStored(call: RunningCall): Promise<void> {
  const provisioner = await loadClass(call);
  const object = call.message.object as Bundle;
  const context = contextOf(call);
  await answerWithFiles(call, async (files) => await provisioner.bundle?.(files, object, context));
}

async function answerWithConfigured(call: RunningCall): Promise<void> {
  const provisioner = await loadClass(call);
  const object = call.message.object as BundleDeployment;
  const context = deploymentContext(call);
  await answerWithFiles(
    call,
    async (files) => await provisioner.configure?.(files, object, context),
  );
}

async function answerWithFiles(
  { message, sender, content }: RunningCall,
  handle: (files: BundleFiles) => Promise<unknown>,
): Promise<void> {
  const files = content.files();
  const result = await handle(files);
  if (result === files) return await sender.send({ type: 'unchanged' });
  // Loaded at the first use: sources and rules do not need the parsers of manifests.
  const { checkedFiles } = await import('../results.ts');
  await sender.sendFiles(checkedFiles(result, message));
}

async function answerWithObjects(call: RunningCall): Promise<void> {
  const { message, sender } = call;
  const provisioner = await loadClass(call);
  const files = call.content.files();
  const object = message.object as BundleDeployment;
  const result: unknown = await provisioner.deployment?.(files, object, deploymentContext(call));
  const { objectTexts } = await import('../results.ts');
  for (const texts of objectTexts(result, message)) await sender.sendObjects(texts);
}

async function answerWithInputs(call: RunningCall): Promise<void> {
  const { message, sender } = call;
  const provisioner = await loadClass(call);
  const references = await provisioner.inputs?.(
    message.object as BundleDeployment,
    contextOf(call),
  );
  if (references === undefined) throw new Error('the handler returned no inputs');
  await sender.send({ type: 'inputs', references: [...references] });
}

/** A module's description of its default export; the manager checks it. */
async function answerWithDescription({ message, sender }: RunningCall): Promise<void> {
  const fields = Object(await loadModule(message.module)) as Readonly<Record<string, unknown>>;
  const { className, contractVersion, uses } = fields;
  await sender.send({
    type: 'description',
    ...(typeof className === 'string' ? { className } : {}),
    ...(typeof contractVersion === 'number' ? { contractVersion } : {}),
    handlers: handlerNames.filter((name) => typeof fields[name] === 'function'),
    others: Object.keys(fields).filter(
      (name) => typeof fields[name] === 'function' && !handlerNames.includes(name),
    ),
    uses: Array.isArray(uses) ? uses.map(String) : [],
  });
}

const handlerNames: readonly string[] = ['bundle', 'configure', 'deployment', 'inputs'];

/** Its handlers are called as its methods: they may use what else it has. */
async function loadClass({ message }: RunningCall): Promise<Provisioner> {
  return (await loadModule(message.module)) as Provisioner;
}

function contextOf({ message, abort, sender }: RunningCall): ProvisionerContext {
  return { signal: abort.signal, logger: sender.logger, limits: message.limits };
}

function deploymentContext(call: RunningCall): DeploymentContext {
  return { ...contextOf(call), inputs: [], ...call.message.facts };
}

function fetchContext(call: RunningCall, origin: FetchOrigin): SourceContext {
  return {
    ...contextOf(call),
    bundle: origin.bundle,
    secrets: { read: async (name) => origin.secrets.get(name) },
    configMaps: noConfigMaps,
  };
}

/** Sources that read ConfigMaps need little processor time, and run in the manager. */
const noConfigMaps: SourceContext['configMaps'] = {
  namespace: '',
  read: async () => {
    throw new Error('a source in a worker process cannot read ConfigMaps');
  },
};

/** A module's default export; an error says in a sentence why it cannot be loaded. */
async function loadModule(module: string): Promise<unknown> {
  try {
    return ((await import(module)) as { readonly default?: unknown }).default;
  } catch (error) {
    throw new Error(`cannot load ${module}: ${reasonOf(error, module)}`, { cause: error });
  }
}

function reasonOf(error: unknown, module: string): string {
  const { code } = Object(error) as { code?: unknown };
  if (code === 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING') {
    return 'it is TypeScript inside node_modules, which Node does not run: publish JavaScript in the package, or name a file outside of node_modules';
  }
  return (
    deniedText(error) ?? syntaxText(error, module) ?? `${errorMessage(error)}${placeOf(error)}`
  );
}

/**
 * Node names the place in a broken file only in the first line of the stack, before the message.
 */
function placeOf(error: unknown): string {
  const stack = error instanceof Error ? error.stack : undefined;
  const [, file, line] = /^(?:file:\/\/)?(\/\S+):(\d+)\n/.exec(stack ?? '') ?? [];
  return file === undefined ? '' : ` (line ${line} of ${file})`;
}

/** For JavaScript Node does not name the place, but its TypeScript parser does. */
function syntaxText(error: unknown, module: string): string | undefined {
  if (!(error instanceof SyntaxError) || placeOf(error) !== '') return undefined;
  try {
    stripTypeScriptTypes(readFileSync(fileURLToPath(module), 'utf8'));
  } catch (parsed) {
    const line = /^\S*:(\d+)\n/.exec((parsed as Error).stack ?? '')?.[1];
    if (line === undefined) return undefined;
    return `${errorMessage(parsed)} (line ${line} of ${fileURLToPath(module)})`;
  }
  return undefined;
}
