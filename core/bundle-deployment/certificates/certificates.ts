import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { installNamespaceOf } from '../../../api/v1alpha1/rules/install-namespace.ts';
import { clientOf } from '../../apply/index.ts';
import type { EventSink } from '../../contracts/event-sink.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  type Discovery,
  isForbidden,
  type KubeClient,
  liveObject,
  type ServedApis,
  secretResource,
} from '../../platform/kube/index.ts';
import { type CertificateEntry, CertificateMemory, successor } from './certificate-memory.ts';
import type { CertificateOptions } from './certificate-options.ts';
import { stateOf } from './certificate-secrets.ts';
import {
  advanced,
  type CertificateState,
  type Circumstances,
  expiryOfPair,
  isUsable,
  nextStepAt,
} from './certificate-state.ts';
import { issuedElsewhere } from './issued-elsewhere.ts';
import { selfIssued } from './self-issued.ts';
import {
  type WantedCertificate,
  type WantedCertificates,
  wantedCertificates,
} from './wanted-certificates.ts';

export interface CertificatesOptions extends CertificateOptions {
  readonly client: KubeClient;
  readonly discovery: ServedApis & Pick<Discovery, 'invalidate'>;
  readonly clock: Clock;
  readonly events: EventSink;
  readonly systemNamespace: string;
}

/** The objects that a deployment's class has rendered. */
interface CertifyRequest {
  readonly deployment: BundleDeployment;
  readonly objects: readonly KubernetesObject[];
  readonly signal: AbortSignal;
}

interface CertifiedObjects {
  /** The same list when no object has an annotation. */
  readonly objects: readonly KubernetesObject[];
  /** When to certify again, in milliseconds since the epoch; undefined when nothing is due. */
  readonly nextStepAt?: number | undefined;
  /** True while the cluster may not have all changes yet: differences are then not drift. */
  readonly isRotating?: boolean;
}

/** Adds certificates, and trust in them, to objects of bundles whose annotations ask for them. */
export class Certificates {
  readonly #options: CertificatesOptions;
  readonly #memory = new CertificateMemory();

  constructor(options: CertificatesOptions) {
    this.#options = options;
  }

  /**
   * The objects to apply now. Makes certificates, and renews them when due.
   * @throws TerminalError that names an invalid annotation; Error.
   */
  async certify(request: CertifyRequest): Promise<CertifiedObjects> {
    const { objects } = request;
    const systemNamespace = this.#namespaceOf(request);
    const wanted = wantedCertificates(objects, systemNamespace);
    if (wanted === undefined) return { objects };
    if (this.#options.provider !== 'self') {
      return { objects: await this.#issuedElsewhere(request, wanted) };
    }
    const entries = new Map<string, CertificateEntry>();
    for (const [key, each] of wanted.secrets) {
      entries.set(key, await this.#advance(key, each, request));
    }
    const own = [...entries.values()];
    const states = new Map([...entries].map(([key, { state }]) => [key, state] as const));
    return {
      objects: selfIssued(objects, { wanted, states, systemNamespace }),
      nextStepAt: this.#nextStepAt(own),
      isRotating: own.some(({ stored, state }) => !stored || state.next !== undefined),
    };
  }

  /** The objects for a plan: makes no certificates, so that the plan stays the same. */
  async foresee(request: CertifyRequest): Promise<readonly KubernetesObject[]> {
    const { objects } = request;
    const systemNamespace = this.#namespaceOf(request);
    const wanted = wantedCertificates(objects, systemNamespace);
    if (wanted === undefined) return objects;
    if (this.#options.provider !== 'self') {
      return await this.#issuedElsewhere(request, wanted);
    }
    const states = new Map<string, CertificateState>();
    for (const [key, each] of wanted.secrets) {
      const entry = await this.#known(key, each, request);
      if (entry === undefined || entry === 'refused' || !entry.stored) continue;
      if (isUsable(entry.state, this.#circumstances(each, request))) states.set(key, entry.state);
    }
    return selfIssued(objects, { wanted, states, systemNamespace });
  }

  #issuedElsewhere(
    { deployment, objects, signal }: CertifyRequest,
    wanted: WantedCertificates,
  ): Promise<readonly KubernetesObject[]> {
    const waitForReady = deployment.spec.stages?.waitForReady === true;
    const systemNamespace = this.#namespaceOf({ deployment });
    const options = { ...this.#options, systemNamespace };
    return issuedElsewhere(objects, { ...options, wanted, waitForReady, signal });
  }

  /**
   * Call this when all objects that `certify` returned for these objects are applied. Returns when
   * to certify again.
   */
  applied({ deployment, objects }: Omit<CertifyRequest, 'signal'>): number | undefined {
    const { clock, provider } = this.#options;
    const systemNamespace = this.#namespaceOf({ deployment });
    const entries = this.#memory.of(deployment.metadata);
    const wanted = wantedCertificates(objects, systemNamespace);
    for (const key of entries.keys()) if (!isWanted(key, wanted)) entries.delete(key);
    if (wanted === undefined || provider !== 'self') return undefined;
    for (const [key, entry] of entries) {
      entry.stored = true;
      entry.former = undefined;
      entry.trustedSince ??= clock.now();
      this.#tell(deployment, key, entry);
    }
    return this.#nextStepAt([...entries.values()]);
  }

  /** Call this when nothing of what `certify` returned was applied, and other objects come next. */
  refused({ metadata }: BundleDeployment): void {
    this.#memory.revert(metadata);
  }

  forget(deploymentName: string): void {
    this.#memory.forget(deploymentName);
  }

  /** Every Secret in the cluster, as `<namespace>/<name>`, with its certificate. */
  served(): readonly (readonly [string, string])[] {
    return this.#memory.served();
  }

  async #advance(
    key: string,
    wanted: WantedCertificate,
    request: CertifyRequest,
  ): Promise<CertificateEntry> {
    const found = await this.#known(key, wanted, request);
    const known = found === 'refused' ? undefined : found;
    const circumstances = this.#circumstances(wanted, request);
    const state = await advanced(known?.state, {
      ...circumstances,
      trustedSince: known?.trustedSince,
    });
    if (known?.state === state) return known;
    const entry = successor(known, state);
    // A Secret that the deployment may not read may exist: look again at the next attempt.
    if (found !== 'refused') this.#memory.of(request.deployment.metadata).set(key, entry);
    return entry;
  }

  /** From memory, otherwise from the cluster with the deployment's permissions. */
  async #known(
    key: string,
    wanted: WantedCertificate,
    { deployment, signal }: CertifyRequest,
  ): Promise<CertificateEntry | 'refused' | undefined> {
    const entries = this.#memory.of(deployment.metadata);
    const known = entries.get(key);
    if (known !== undefined) return known;
    const secret = await this.#read(wanted, deployment, signal);
    if (secret === 'refused') return secret;
    const state = stateOf(secret, deployment.metadata.name ?? '');
    if (state === undefined) return undefined;
    const entry: CertificateEntry = { state, stored: true, told: state.serving.certificate };
    entries.set(key, entry);
    return entry;
  }

  async #read(
    { namespace, name }: WantedCertificate,
    deployment: BundleDeployment,
    signal: AbortSignal,
  ): Promise<KubernetesObject | 'refused' | undefined> {
    const target = { resource: secretResource, key: { namespace, name } };
    try {
      return await liveObject(clientOf(deployment, this.#options.client), target, signal);
    } catch (error) {
      // The apply reports this missing permission with all others, and changes nothing.
      if (isForbidden(error)) return 'refused';
      throw error;
    }
  }

  /** Namespace of objects that name none. */
  #namespaceOf({ deployment }: Pick<CertifyRequest, 'deployment'>): string {
    return installNamespaceOf(deployment, this.#options.systemNamespace);
  }

  #circumstances(
    { hosts }: WantedCertificate,
    { deployment }: Pick<CertifyRequest, 'deployment'>,
  ): Circumstances {
    const { lifetime, clock } = this.#options;
    const request = deployment.metadata.annotations?.[annotation.rotateCertificates];
    return { hosts, lifetime, now: clock.now(), request };
  }

  #nextStepAt(entries: readonly CertificateEntry[]): number | undefined {
    if (entries.length === 0) return undefined;
    const { lifetime } = this.#options;
    return Math.min(
      ...entries.map(({ state, trustedSince }) => nextStepAt(state, { trustedSince, lifetime })),
    );
  }

  #tell(deployment: BundleDeployment, key: string, entry: CertificateEntry): void {
    const { certificate } = entry.state.serving;
    if (entry.told === certificate) return;
    const isFirst = entry.told === undefined;
    entry.told = certificate;
    const until = new Date(expiryOfPair(entry.state.serving) ?? 0).toISOString();
    this.#options.events.event(deployment, {
      type: 'Normal',
      reason: isFirst ? 'CertificateIssued' : 'CertificateRotated',
      message: `Secret ${key} has a new serving certificate, valid until ${until}`,
    });
  }
}

function isWanted(key: string, wanted: WantedCertificates | undefined): boolean {
  return wanted?.secrets.has(key) === true;
}
