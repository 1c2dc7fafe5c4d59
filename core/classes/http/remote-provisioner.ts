import type { KubernetesObject } from '../../../api/meta.ts';
import type { Bundle, BundleDeployment } from '../../../api/v1alpha1/index.ts';
import type { BundleFiles } from '../../contracts/bundle-files.ts';
import {
  contractVersion,
  type DefinedProvisioner,
  type DeploymentContext,
  type DeploymentHandler,
  type ProvisionerContext,
} from '../../contracts/provisioner.ts';
import type { ContentMemory } from '../../contracts/source.ts';
import { errorMessage, WaitingError } from '../../errors.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import type { ProxyConfig } from '../../platform/net/index.ts';
import type { ByteBudget, InTurn } from '../../platform/runtime/index.ts';
import { inMemory } from './answer-memory.ts';
import { contentIn, countedBy, manifestIn, referencesIn } from './answers.ts';
import { type ClassAddressOptions, classAddress } from './class-address.ts';
import { ClassConnection } from './class-connection.ts';
import { ClassServer } from './class-server.ts';
import { type RequestContent, requestArchive } from './request-archive.ts';
import { withinLimit } from './within-limit.ts';

export interface RemoteClassOptions extends ClassAddressOptions {
  /** Folder with the keys of a mounted Secret: `token`, `tls.crt` with `tls.key`, `ca.crt`. */
  readonly credentials?: string | undefined;
  readonly proxy?: ProxyConfig | undefined;
  readonly clock?: Clock;
}

export interface RemoteProvisioner extends DefinedProvisioner {
  /** Closes its connections at once. */
  close(): Promise<void>;
}

/** Reads answers with objects. */
export interface AnswerReader {
  readonly readObjects: DeploymentHandler;
  /** Counts the bytes of answers until they are read. */
  readonly memory: Pick<ByteBudget, 'open'>;
  close(): Promise<void>;
}

/**
 * A class that a server provides over HTTP, with the reader, which it closes in the end.
 * @throws Error when address or credentials are unusable
 */
export async function openRemoteClass(
  options: RemoteClassOptions,
  reader: AnswerReader,
): Promise<RemoteProvisioner> {
  const { className, credentials, proxy, clock = systemClock } = options;
  const address = classAddress(options);
  const connection = await ClassConnection.open({ address, credentials, proxy });
  const server = new ClassServer({ address, connection, clock });
  const remote = new RemoteClass(server, reader);
  return {
    contractVersion,
    className,
    bundle: (files, object, context) => remote.bundle(files, object, context),
    configure: (files, object, context) => remote.configure(files, object, context),
    deployment: (files, object, context) => remote.deployment(files, object, context),
    inputs: (object, context) => remote.inputs(object, context),
    get uses() {
      return server.uses;
    },
    async close() {
      await Promise.all([connection.close(), reader.close()]);
    },
  };
}

/** A request about content, and its path. */
interface ContentRequest extends RequestContent {
  readonly path: string;
  readonly files: BundleFiles;
}

/** The handlers of a class; each sends a request to its server. */
class RemoteClass {
  readonly #server: ClassServer;
  readonly #reader: AnswerReader;

  constructor(server: ClassServer, reader: AnswerReader) {
    this.#server = server;
    this.#reader = reader;
  }

  async bundle(files: BundleFiles, object: Bundle, given: ProvisionerContext) {
    return await withinLimit(this.#server.name, given, async (context) => {
      const { handlers } = await this.#server.describe(context);
      if (!handlers.includes('bundle')) throw this.#notServed('Bundles', handlers);
      const { limits, turn } = context;
      const sent = { path: 'v1/bundle', object, context: { limits }, files };
      return await this.#content(sent, context, () => countedBy(turn));
    });
  }

  /**
   * Sends a request only if the server declares that it adapts content.
   * @throws Error otherwise when spec.config would be ignored (ADR 51)
   */
  async configure(files: BundleFiles, object: BundleDeployment, given: DeploymentContext) {
    return await withinLimit(this.#server.name, given, async (context) => {
      const { handlers, uses } = await this.#server.describe(context);
      if (!handlers.includes('configure')) {
        this.#checkConfig(object);
        return files;
      }
      const sent = { object, context: this.#contextOf(context, uses), files };
      return await inMemory(this.#reader.memory, context, async (held, memory) =>
        this.#content({ path: 'v1/configure', ...sent }, held, () => {
          memory.restart();
          return memory;
        }),
      );
    });
  }

  async deployment(
    files: BundleFiles,
    object: BundleDeployment,
    given: DeploymentContext,
  ): Promise<readonly KubernetesObject[]> {
    return await withinLimit(this.#server.name, given, async (context) => {
      const { handlers, uses } = await this.#server.describe(context);
      if (!handlers.includes('deployment')) throw this.#notServed('BundleDeployments', handlers);
      const sent = { object, context: this.#contextOf(context, uses), files };
      const archive = await requestArchive(sent);
      return await inMemory(this.#reader.memory, context, async (held, memory) => {
        const { signal, turn } = held;
        const accept = 'application/json, application/yaml';
        const wanted = { path: 'v1/deployment', accept, archive, signal, turn };
        const answer = await this.#server.call(wanted, (each) => manifestIn(each, held, memory));
        memory.arrived();
        return await this.#objectsOf(answer, object, held);
      });
    });
  }

  async #objectsOf(
    answer: BundleFiles,
    object: BundleDeployment,
    context: DeploymentContext,
  ): Promise<readonly KubernetesObject[]> {
    try {
      return await this.#reader.readObjects(answer, object, context);
    } catch (error) {
      context.signal.throwIfAborted();
      // Its process was ended for the memory of others.
      if (error instanceof WaitingError) throw error;
      // Never terminal: somebody may repair the server, and core gets no event of that.
      throw new Error(`${this.#server.name}: ${errorMessage(error)}`, { cause: error });
    }
  }

  /** Sends a request only if the server declares inputs. */
  async inputs(object: BundleDeployment, given: ProvisionerContext) {
    return await withinLimit(this.#server.name, given, async (context) => {
      const { handlers } = await this.#server.describe(context);
      if (!handlers.includes('inputs')) return [];
      const { limits, signal, turn } = context;
      const archive = await requestArchive({ object, context: { limits } });
      const wanted = { path: 'v1/inputs', accept: 'application/json', archive, signal, turn };
      return await this.#server.call(wanted, referencesIn);
    });
  }

  /** The content of a tar in the answer; after a 204 the content of the request. */
  async #content(
    { path, ...sent }: ContentRequest,
    context: InTurn<ProvisionerContext>,
    memoryOf: () => ContentMemory,
  ): Promise<BundleFiles> {
    const archive = await requestArchive(sent);
    const { signal, turn } = context;
    const wanted = { path, accept: 'application/x-tar', archive, signal, turn };
    return await this.#server.call(wanted, async (answer) => {
      if (answer.status !== 204) return await contentIn(answer, context, memoryOf());
      await answer.body.dump();
      return sent.files;
    });
  }

  /**
   * Encodes binary values in base64. Includes only facts that the class declares to use, because a
   * seed is a secret.
   */
  #contextOf(context: DeploymentContext, uses: readonly ('cluster' | 'seed')[] = []): object {
    const { limits, inputs, installed } = context;
    const facts = uses.map((name) => {
      const { [name]: fact } = context;
      // The class declared the use only after the facts were read: the next attempt has them.
      if (fact === undefined) {
        throw new WaitingError(`${this.#server.name} now uses "${name}": core retries with it`);
      }
      return [name, fact instanceof Uint8Array ? base64(fact) : fact] as const;
    });
    return {
      limits,
      inputs: inputs.map((input) => (input === undefined ? null : base64(input))),
      ...(installed === true ? { installed } : {}),
      ...Object.fromEntries(facts),
    };
  }

  /** A class that deploys its own Bundles receives spec.config in its `deployment` handler. */
  #checkConfig({ spec }: BundleDeployment): void {
    const { className, name } = this.#server;
    if (spec.config === undefined || spec.provisionerClassName === className) return;
    throw new Error(
      `spec.config cannot be applied to content of class "${className}": ${name} has no handler "configure". Add the handler to the class, or remove spec.config`,
    );
  }

  #notServed(kind: string, handlers: readonly string[]): Error {
    return new Error(
      `${this.#server.name} serves no ${kind}: its handlers are [${handlers.join(', ')}]; name another class in spec.provisionerClassName`,
    );
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
