import { parseJson } from '../../../api/json.ts';
import { unpackTar } from '../../content/index.ts';
import type { BundleFiles } from '../../contracts/bundle-files.ts';
import type {
  BundleHandler,
  ConfigureHandler,
  DeploymentContext,
  DeploymentHandler,
  InputReference,
  InputsHandler,
  ProvisionerContext,
} from '../../contracts/provisioner.ts';
import { errorMessage, WaitingError } from '../../errors.ts';
import { checkBody, mediaTypeOf, readBody } from './answer-body.ts';
import type { ClassAnswer } from './class-connection.ts';
import type { ClassDescriptions } from './class-description.ts';
import type { ClassServer } from './class-server.ts';
import { type RequestArchive, requestArchive } from './request-archive.ts';
import { withinLimit } from './within-limit.ts';

/** A class at its server. */
export interface RemoteClass {
  readonly server: ClassServer;
  readonly descriptions: ClassDescriptions;
  readonly readObjects: DeploymentHandler;
}

const maxInputsBytes = 256 * 1024;

export function bundleHandler({ server, descriptions }: RemoteClass): BundleHandler {
  return (files, object, context) =>
    withinLimit(server, context, async (signal) => {
      const { limits } = context;
      const { handlers } = await descriptions.get({ ...context, signal });
      if (!handlers.includes('bundle')) throw notServed(server, 'Bundles', handlers);
      const archive = await requestArchive({ object, context: { limits }, files });
      const request = { path: 'v1/bundle', archive, limits, signal };
      return (await otherContent(server, request)) ?? files;
    });
}

/** Asks the server only where it says that it adapts content. */
export function configureHandler({ server, descriptions }: RemoteClass): ConfigureHandler {
  return (files, object, context) =>
    withinLimit(server, context, async (signal) => {
      const { limits } = context;
      const { handlers, uses = [] } = await descriptions.get({ ...context, signal });
      if (!handlers.includes('configure')) return files;
      const archive = await requestArchive({
        object,
        context: { ...contextOf(context), ...factsOf(context, { uses, server }) },
        files,
      });
      const request = { path: 'v1/configure', archive, limits, signal };
      return (await otherContent(server, request)) ?? files;
    });
}

export function deploymentHandler({
  server,
  descriptions,
  readObjects,
}: RemoteClass): DeploymentHandler {
  return (files, object, context) =>
    withinLimit(server, context, async (signal) => {
      const { handlers, uses = [] } = await descriptions.get({ ...context, signal });
      if (!handlers.includes('deployment')) throw notServed(server, 'BundleDeployments', handlers);
      const archive = await requestArchive({
        object,
        context: { ...contextOf(context), ...factsOf(context, { uses, server }) },
        files,
      });
      const accept = 'application/json, application/yaml';
      const wanted = { path: 'v1/deployment', accept, archive, signal };
      const answer = await server.call(wanted, (given) => manifestIn(given, context));
      try {
        return await readObjects(answer, object, { ...context, signal });
      } catch (error) {
        signal.throwIfAborted();
        // Not terminal, whatever it is: the server may be mended, and then nothing tells us so.
        throw new Error(`${server.name}: ${errorMessage(error)}`, { cause: error });
      }
    });
}

/** Asks the server only where it says that it has an answer. */
export function inputsHandler({ server, descriptions }: RemoteClass): InputsHandler {
  return (object, context) =>
    withinLimit(server, context, async (signal) => {
      const { handlers } = await descriptions.get({ ...context, signal });
      if (!handlers.includes('inputs')) return [];
      const archive = await requestArchive({ object, context: { limits: context.limits } });
      const wanted = { path: 'v1/inputs', accept: 'application/json', archive, signal };
      return await server.call(wanted, referencesIn);
    });
}

interface ContentRequest extends Pick<ProvisionerContext, 'limits' | 'signal'> {
  readonly path: string;
  readonly archive: RequestArchive;
}

/** The content of a tar in the answer; undefined for a 204, which leaves the given one as it is. */
async function otherContent(
  server: ClassServer,
  { path, archive, limits, signal }: ContentRequest,
): Promise<BundleFiles | undefined> {
  const wanted = { path, accept: 'application/x-tar', archive, signal };
  return await server.call(wanted, async (answer) => {
    if (answer.status === 204) {
      await answer.body.dump();
      return undefined;
    }
    checkBody(answer, ['application/x-tar']);
    return await unpackTar(answer.body, { limits, signal });
  });
}

/** What is no text is in base64. */
function contextOf({ limits, inputs, installed }: DeploymentContext): object {
  return {
    limits,
    inputs: inputs.map((input) => (input === undefined ? null : base64(input))),
    ...(installed === true ? { installed } : {}),
  };
}

/** What the class says that it uses, and nothing else: a seed is a secret. */
function factsOf(
  context: DeploymentContext,
  {
    uses,
    server,
  }: { readonly uses: readonly ('cluster' | 'seed')[]; readonly server: ClassServer },
): object {
  const facts = uses.map((name) => {
    const { [name]: fact } = context;
    // It was not known to use it when the facts were read: at the next try they are there.
    if (fact === undefined) {
      throw new WaitingError(`${server.name} uses "${name}" since a moment ago`);
    }
    return [name, fact instanceof Uint8Array ? base64(fact) : fact] as const;
  });
  return Object.fromEntries(facts);
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

/** What is to be read as objects, as content of one file. */
async function manifestIn(
  answer: ClassAnswer,
  { limits }: ProvisionerContext,
): Promise<BundleFiles> {
  checkBody(answer, ['application/json', 'application/yaml']);
  const name = mediaTypeOf(answer) === 'application/json' ? 'answer.json' : 'answer.yaml';
  const body = await readBody(answer, limits.maxBytes);
  return { files: new Map([[name, body]]), directories: new Set() };
}

/** The reconciler checks what they ask for. */
async function referencesIn(answer: ClassAnswer): Promise<readonly InputReference[]> {
  checkBody(answer, ['application/json']);
  const references = parseJson((await readBody(answer, maxInputsBytes)).toString('utf8'));
  if (!Array.isArray(references)) throw new Error('the answer to POST v1/inputs is no array');
  return references;
}

function notServed(server: ClassServer, kind: string, handlers: readonly string[]): Error {
  return new Error(
    `${server.name} serves no ${kind}: its handlers are [${handlers.join(', ')}]; name another class in spec.provisionerClassName`,
  );
}
