import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type { DeletionPolicy } from '../../api/v1alpha1/deployment-policies.ts';
import type { SourceTypes } from '../bundle/index.ts';
import type { Applier } from '../contracts/applier.ts';
import type { BundleFiles, ContentLimits } from '../contracts/bundle-files.ts';
import type { EventSink } from '../contracts/event-sink.ts';
import type { Logger } from '../contracts/logger.ts';
import type { Provisioner } from '../contracts/provisioner.ts';
import type { UnservedDeletions } from '../contracts/unserved-deletions.ts';
import { WaitingError } from '../errors.ts';
import type { Clock } from '../platform/clock.ts';
import type { KubeClient } from '../platform/kube/index.ts';
import type { ApplyMetrics } from '../platform/observe/index.ts';
import type { Certificates } from './certificates/certificates.ts';
import type { RenderFacts } from './facts/render-facts.ts';
import type { LastApplied, PlanMemory } from './memory.ts';
import type { FullPlan } from './plan/full-plan.ts';
import type { RenderedObjects } from './rendering/rendered-objects.ts';

interface BundleDeploymentCache {
  get(key: { readonly name: string }): BundleDeployment | undefined;
  /** Deployments whose spec.dependsOn names this one, in any order. */
  dependentsOf(name: string): readonly BundleDeployment[];
  upsertIfNewer(deployment: BundleDeployment): void;
}

export interface OwnedBundleCache {
  /** Bundles with the deployment's labels, in any order. */
  ownedBy(deploymentName: string): readonly Bundle[];
  /** A deleted Bundle of that name whose content is kept while it is installed. */
  kept(name: string): Bundle | undefined;
  upsertIfNewer(bundle: Bundle): void;
}

/** Stored content was lost and core unpacks it again: nothing is wrong with it. */
export class LostContentError extends WaitingError {}

/** Reads a Bundle's stored content, from any archive. */
export interface ContentLoader {
  /** @throws LostContentError while core unpacks the content again. */
  load(bundle: Bundle, signal: AbortSignal): Promise<BundleFiles>;
}

/** Stores full plans for people. */
export interface PlanStore {
  /** Replaces an earlier plan of the deployment. */
  write(deployment: BundleDeployment, plan: FullPlan, signal: AbortSignal): Promise<void>;
  remove(deploymentName: string, signal: AbortSignal): Promise<void>;
}

/** The dependencies of the BundleDeployment reconciler. */
export interface BundleDeploymentDependencies {
  readonly client: KubeClient;
  readonly deployments: BundleDeploymentCache;
  readonly bundles: OwnedBundleCache;
  /** By class name; only classes with a deployment handler. */
  readonly provisioners: ReadonlyMap<string, Provisioner>;
  /** By class name; classes whose Bundles this process unpacks. */
  readonly bundleClasses: Pick<ReadonlyMap<string, Provisioner>, 'has' | 'get'>;
  /** Sources of the process that unpacks them, as far as this process knows. */
  readonly sources: SourceTypes;
  readonly content: ContentLoader;
  readonly applier: Applier;
  readonly facts: Pick<RenderFacts, 'prepare' | 'renew' | 'forget' | 'onChange'>;
  readonly certificates: Pick<
    Certificates,
    'certify' | 'foresee' | 'applied' | 'refused' | 'forget'
  >;
  readonly storedPlans: PlanStore;
  /** Namespace of core. */
  readonly systemNamespace: string;
  readonly limits: ContentLimits;
  /**
   * Feature gate BundleDeploymentHealth: core reports Healthy, and waits for it before it deletes
   * earlier Bundles.
   */
  readonly reportHealth: boolean;
  /** Deletion policy of deployments without spec.deletionPolicy (default: `Delete`). */
  readonly defaultDeletionPolicy?: DeletionPolicy | undefined;
  /** Deletions of classes that no process serves (default: another process handles them). */
  readonly unserved?: UnservedDeletions | undefined;
  readonly events: EventSink;
  readonly metrics?: Pick<ApplyMetrics, 'applied' | 'changed' | 'becameHealthy'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The dependencies of the phases, with the reconciler's own memory. */
export interface ReconcileDependencies extends BundleDeploymentDependencies {
  readonly rendered: RenderedObjects;
  readonly lastApplied: LastApplied;
  readonly plans: PlanMemory;
}
