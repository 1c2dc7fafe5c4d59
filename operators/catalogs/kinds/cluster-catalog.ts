import { goQuote } from '../../../api/go-quote.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import {
  type ClusterCatalog,
  type ClusterCatalogStatus,
  catalogNameLabel,
  clusterCatalogCondition,
  clusterCatalogFinalizer,
  clusterCatalogReason,
  clusterCatalogResource,
} from '../../../api/olm/v1/index.ts';
import { type Condition, findCondition, metaTime, setCondition } from '../../../core/controller.ts';
import { CatalogFailure } from '../source/catalog-failure.ts';
import type { ImageRequest } from '../source/catalog-image.ts';
import type {
  CatalogKindAdapter,
  CatalogOutcome,
  CatalogRequest,
  StatusContext,
} from './catalog-kind.ts';
import { isOf } from './named-content.ts';
import { lostGeneration, withSummary } from './readiness.ts';

/** operator-controller's ClusterCatalog, in the words of its version 1. */
export const clusterCatalogAdapter: CatalogKindAdapter = {
  kind: 'ClusterCatalog',
  resource: clusterCatalogResource,
  finalizer: clusterCatalogFinalizer,
  labelsOf: (name) => ({ [catalogNameLabel]: name }),
  read,
  textOf,
  relocated,
  status,
};

const minute = 60_000;

function read(object: KubernetesObject): CatalogRequest {
  const catalog = object as ClusterCatalog;
  const { metadata, spec, status = {} } = catalog;
  const minutes = spec?.source?.image?.pollIntervalMinutes;
  return {
    labels: { ...metadata.labels, [catalogNameLabel]: metadata.name ?? '' },
    priority: spec?.priority ?? 0,
    isAvailable: spec?.availabilityMode !== 'Unavailable',
    image: imageOf(catalog),
    pollInterval: minutes === undefined ? undefined : minutes * minute,
    remembered: rememberedOf(status),
  };
}

function rememberedOf(status: ClusterCatalogStatus): CatalogRequest['remembered'] {
  const progressing = findCondition(status.conditions, clusterCatalogCondition.progressing);
  const isSettled = progressing?.reason === clusterCatalogReason.succeeded;
  return {
    resolvedRef: status.resolvedSource?.image.ref,
    isServed: status.urls !== undefined,
    polledAt: timeOf(status.lastPollAttempt),
    generation: isSettled ? progressing.observedGeneration : lostGeneration(status.conditions),
    problem: isSettled ? undefined : progressing?.message,
  };
}

function imageOf({ metadata, spec }: ClusterCatalog): ImageRequest | CatalogFailure {
  const { type, image } = spec?.source ?? {};
  const isFinal = true;
  if (type !== 'Image') {
    return new CatalogFailure('source', `unknown source type ${goQuote(type ?? '')}`, { isFinal });
  }
  if (image === undefined) {
    const message = `error parsing ClusterCatalog ${goQuote(metadata.name ?? '')}, image source is nil`;
    return new CatalogFailure('source', message, { isFinal });
  }
  const { ref, pullSecret } = image;
  return { ref, pullSecret, insecureSkipTLSVerify: false };
}

const prefixes: Readonly<Record<CatalogFailure['step'], string>> = {
  source: '',
  reference: 'source catalog content: error parsing image reference: ',
  interval: '',
  keychain: 'source catalog content: error getting auth keychain: ',
  descriptor: 'source catalog content: error fetching image descriptor: ',
  image: 'source catalog content: error unpacking image: ',
  content: 'error storing fbc: error walking FBC root: ',
};

function textOf({ step, message }: CatalogFailure): string {
  return `${prefixes[step]}${message}`;
}

function urlOf(address: string, name: string | undefined): string {
  return `${address}/catalogs/${name}`;
}

function relocated(object: KubernetesObject, address: string): ClusterCatalogStatus | undefined {
  const { metadata, status } = object as ClusterCatalog;
  const base = urlOf(address, metadata.name);
  const isElsewhere = status?.urls !== undefined && status.urls.base !== base;
  return isElsewhere ? { ...status, urls: { base } } : undefined;
}

function status(
  object: KubernetesObject,
  outcome: CatalogOutcome,
  { address, clock }: StatusContext,
): ClusterCatalogStatus {
  const { metadata, status: before = {} } = object as ClusterCatalog;
  const { generation } = metadata;
  const changed = conditionsOf(outcome).map((each) => ({
    ...each,
    observedGeneration: generation,
  }));
  const set = changed.reduce<readonly Condition[]>(
    (all, each) => setCondition(all, each, clock),
    before.conditions ?? [],
  );
  const conditions = [...withSummary(set, { outcome, textOf, generation, clock })];
  if (outcome.kind === 'unpacked') {
    const { resolvedRef: ref, unpackedAt, packages } = outcome.served;
    return {
      conditions,
      resolvedSource: { type: 'Image', image: { ref } },
      urls: { base: urlOf(address, metadata.name) },
      lastUnpacked: metaTime(unpackedAt),
      lastPollAttempt: metaTime(outcome.at),
      packages,
    };
  }
  if (outcome.kind === 'unavailable') return { conditions };
  const isServing = outcome.kind === 'deletion failed' || outcome.served !== undefined;
  return isServing ? { ...before, conditions } : { ...digestOf(object), conditions };
}

/** What the status of content that got lost keeps, to fetch it again. */
function digestOf(object: KubernetesObject): ClusterCatalogStatus {
  const { spec, status: { resolvedSource, lastPollAttempt } = {} } = object as ClusterCatalog;
  const { ref } = spec?.source?.image ?? {};
  if (resolvedSource === undefined || !isOf(ref, resolvedSource.image.ref)) return {};
  return { resolvedSource, ...(lastPollAttempt === undefined ? {} : { lastPollAttempt }) };
}

type Update = Omit<Condition, 'lastTransitionTime'>;

function conditionsOf(outcome: CatalogOutcome): readonly Update[] {
  const { succeeded, retrying, blocked, available, unavailable } = clusterCatalogReason;
  if (outcome.kind === 'unpacked') {
    return [
      progressing(succeeded, 'Successfully unpacked and stored content from resolved source'),
      serving('True', available, 'Serving desired content from resolved source'),
    ];
  }
  if (outcome.kind === 'failed') {
    const failed = progressing(outcome.isBlocked ? blocked : retrying, textOf(outcome.failure));
    return outcome.served === undefined ? [failed, serving('False', unavailable, '')] : [failed];
  }
  if (outcome.kind === 'deletion failed') return [progressing(retrying, outcome.message)];
  const text = 'Catalog availability mode is set to Unavailable';
  const { userSpecifiedUnavailable } = clusterCatalogReason;
  return [progressing(succeeded, text), serving('False', userSpecifiedUnavailable, text)];
}

function progressing(reason: string, message: string): Update {
  const { progressing: type } = clusterCatalogCondition;
  const status = reason === clusterCatalogReason.blocked ? 'False' : 'True';
  return { type, status, reason, message };
}

function serving(status: 'True' | 'False', reason: string, message: string): Update {
  return { type: clusterCatalogCondition.serving, status, reason, message };
}

function timeOf(text: string | undefined): number | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : time;
}
