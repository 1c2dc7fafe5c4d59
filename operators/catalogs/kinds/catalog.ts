import {
  type Catalog,
  type CatalogImage,
  type CatalogStatus,
  catalogCondition,
  catalogFinalizer,
  catalogReason,
  catalogResource,
} from '../../../api/catalogd/v1alpha1/index.ts';
import { parseGoDuration } from '../../../api/duration.ts';
import { goQuote } from '../../../api/go-quote.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { type Condition, findCondition, metaTime, setCondition } from '../../../core/controller.ts';
import { CatalogFailure } from '../source/catalog-failure.ts';
import type { ImageRequest } from '../source/catalog-image.ts';
import type {
  CatalogKindAdapter,
  CatalogOutcome,
  CatalogRequest,
  ServedState,
  StatusContext,
} from './catalog-kind.ts';

import { isOf } from './named-content.ts';
import { lostGeneration, withSummary } from './readiness.ts';

/** catalogd's Catalog, in the words of its version 0.10. */
export const catalogAdapter: CatalogKindAdapter = {
  kind: 'Catalog',
  resource: catalogResource,
  finalizer: catalogFinalizer,
  labelsOf: () => ({}),
  read,
  textOf,
  relocated,
  status,
};

function read(object: KubernetesObject): CatalogRequest {
  const { metadata, spec, status = {} } = object as Catalog;
  const interval = intervalOf(spec?.source.image?.pollInterval);
  return {
    labels: metadata.labels ?? {},
    priority: 0,
    isAvailable: true,
    image: interval instanceof CatalogFailure ? interval : imageOf(object as Catalog),
    pollInterval: interval instanceof CatalogFailure ? undefined : interval,
    remembered: rememberedOf(status),
  };
}

function rememberedOf(status: CatalogStatus): CatalogRequest['remembered'] {
  const { conditions, observedGeneration, resolvedSource, packages } = status;
  const unpacked = findCondition(conditions, catalogCondition.unpacked);
  const isUnpacked = unpacked?.status === 'True';
  const resolved = resolvedSource?.image;
  return {
    resolvedRef: resolved && withDockerHub(resolved.resolvedRef),
    isServed: isUnpacked || packages !== undefined,
    polledAt: timeOf(resolved?.lastPollAttempt),
    generation: isUnpacked ? observedGeneration : lostGeneration(conditions),
    problem: unpacked?.status === 'False' ? unpacked.message : undefined,
  };
}

function imageOf({ metadata, spec }: Catalog): ImageRequest | CatalogFailure {
  const { type = '', image } = spec?.source ?? {};
  const isFinal = true;
  if (type !== 'image') {
    return new CatalogFailure('source', `source type ${goQuote(type)} not supported`, { isFinal });
  }
  if (image === undefined) {
    const message = `error parsing catalog, catalog ${metadata.name} has a nil image source`;
    return new CatalogFailure('source', message, { isFinal });
  }
  const { ref, pullSecret, insecureSkipTLSVerify = false } = image;
  return { ref, pullSecret, insecureSkipTLSVerify };
}

/** Zero, and what is less, is no polling. */
function intervalOf(text: CatalogImage['pollInterval']): number | undefined | CatalogFailure {
  if (text === undefined) return undefined;
  const interval = parseGoDuration(text);
  if (interval !== undefined) return interval > 0 ? interval : undefined;
  const message = `spec.source.image.pollInterval ${goQuote(text)} is not a duration: write it as 10m or 24h, or leave it out for no polling`;
  return new CatalogFailure('interval', message, { isFinal: true });
}

const prefixes: Readonly<Record<CatalogFailure['step'], string>> = {
  source: '',
  reference: 'error parsing image reference: ',
  interval: '',
  keychain: 'error getting auth keychain: ',
  descriptor: 'error fetching image descriptor: ',
  image: 'error unpacking image: ',
  content: 'error in parsing catalog content files in the filesystem: ',
};

function textOf({ step, message }: CatalogFailure): string {
  const about =
    step === 'content' ? 'failed to store bundle: error storing fbc' : 'source bundle content';
  return `${about}: ${prefixes[step]}${message}`;
}

function urlOf(address: string, name: string | undefined): string {
  return `${address}/catalogs/${name}/all.json`;
}

function relocated(object: KubernetesObject, address: string): CatalogStatus | undefined {
  const { metadata, status } = object as Catalog;
  const contentURL = urlOf(address, metadata.name);
  const isElsewhere = status?.contentURL !== undefined && status.contentURL !== contentURL;
  return isElsewhere ? { ...status, contentURL } : undefined;
}

function status(
  object: KubernetesObject,
  outcome: CatalogOutcome,
  context: StatusContext,
): CatalogStatus {
  const { metadata, status: before = {} } = object as Catalog;
  const conditions = withSummary(
    setCondition(before.conditions ?? [], conditionOf(outcome), context.clock),
    { outcome, textOf, generation: metadata.generation, clock: context.clock },
  );
  if (outcome.kind === 'unpacked') {
    return {
      conditions: [...conditions],
      phase: 'Unpacked',
      resolvedSource: resolvedSource(outcome.served, outcome.at),
      contentURL: urlOf(context.address, metadata.name),
      observedGeneration: metadata.generation ?? 0,
      packages: outcome.served.packages,
    };
  }
  if (outcome.kind !== 'failed') return { ...before, conditions: [...conditions] };
  const isServing = outcome.served !== undefined;
  return { ...ofFormer(object, isServing), conditions: [...conditions], phase: 'Failing' };
}

/**
 * What a failure leaves of the status. Unlike catalogd, it names the content of before: all replicas
 * fetch it by its digest, also a leader that has lost it.
 */
function ofFormer(object: KubernetesObject, isServing: boolean): CatalogStatus {
  const { spec, status = {} } = object as Catalog;
  const { resolvedSource: source, packages, ...kept } = status;
  const isOfSpec = isOf(spec?.source.image?.ref, rememberedOf(status).resolvedRef);
  return {
    ...kept,
    ...(source !== undefined && (isServing || isOfSpec) ? { resolvedSource: source } : {}),
    ...(packages !== undefined && isServing ? { packages } : {}),
  };
}

/** Without observedGeneration, as catalogd writes them. */
function conditionOf(outcome: CatalogOutcome): Omit<Condition, 'lastTransitionTime'> {
  const { unpacked: type } = catalogCondition;
  const { unpackSuccessful, failedToStore, unpackFailed, failedToDelete } = catalogReason;
  if (outcome.kind === 'failed') {
    const reason = outcome.failure.step === 'content' ? failedToStore : unpackFailed;
    return { type, status: 'False', reason, message: textOf(outcome.failure) };
  }
  if (outcome.kind === 'deletion failed') {
    const message = `failed to delete storage: ${outcome.message}`;
    return { type: catalogCondition.delete, status: 'False', reason: failedToDelete, message };
  }
  return { type, status: 'True', reason: unpackSuccessful, message: '' };
}

function resolvedSource(
  { ref, resolvedRef }: ServedState,
  at: number,
): NonNullable<CatalogStatus['resolvedSource']> {
  const image = { ref, resolvedRef: withIndexHost(resolvedRef), lastPollAttempt: metaTime(at) };
  return { type: 'image', image };
}

/** As go-containerregistry names Docker Hub. */
function withIndexHost(ref: string): string {
  return ref.replace(/^docker\.io\//, 'index.docker.io/');
}

function withDockerHub(ref: string): string {
  return ref.replace(/^index\.docker\.io\//, 'docker.io/');
}

function timeOf(text: string | undefined): number | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : time;
}
