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
  /** Bundles labelled as made for the deployment, in any order. */
  ownedBy(deploymentName: string): readonly Bundle[];
  /** The Bundle of that name that is gone, and whose content is kept while it is installed. */
  kept(name: string): Bundle | undefined;
  upsertIfNewer(bundle: Bundle): void;
}

/** Reads a Bundle's stored content, from wherever it is. */
export interface ContentLoader {
  /** @throws LostContentError while it is on its way back. */
  load(bundle: Bundle, signal: AbortSignal): Promise<BundleFiles>;
}

/** Keeps full plans where they can be looked at. */
export interface PlanStore {
  /** In place of an earlier one of the deployment. */
  write(deployment: BundleDeployment, plan: FullPlan, signal: AbortSignal): Promise<void>;
  remove(deploymentName: string, signal: AbortSignal): Promise<void>;
}

/** What the BundleDeployment reconciler works with. */
export interface BundleDeploymentDependencies {
  readonly client: KubeClient;
  readonly deployments: BundleDeploymentCache;
  readonly bundles: OwnedBundleCache;
  /** By class name; only classes with a deployment handler. */
  readonly provisioners: ReadonlyMap<string, Provisioner>;
  /** By class name, whose Bundles this process unpacks. */
  readonly bundleClasses: Pick<ReadonlyMap<string, Provisioner>, 'has' | 'get'>;
  /** Of the process that unpacks them, as far as this process knows. */
  readonly sources: SourceTypes;
  readonly content: ContentLoader;
  readonly applier: Applier;
  readonly facts: Pick<RenderFacts, 'prepare' | 'renew' | 'forget' | 'onChange'>;
  readonly certificates: Pick<Certificates, 'certify' | 'foresee' | 'applied' | 'forget'>;
  readonly storedPlans: PlanStore;
  /** Where the system runs. */
  readonly systemNamespace: string;
  readonly limits: ContentLimits;
  /** Feature gate BundleDeploymentHealth: Healthy is reported, and decides when to retire. */
  readonly reportHealth: boolean;
  /** For deployments without spec.deletionPolicy (default: `Delete`). */
  readonly defaultDeletionPolicy?: DeletionPolicy | undefined;
  /** Deletions of classes that no process serves (default: another process ends them). */
  readonly unserved?: UnservedDeletions | undefined;
  readonly events: EventSink;
  readonly metrics?: Pick<ApplyMetrics, 'applied' | 'changed' | 'becameHealthy'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What its steps work with: the reconciler's own memory as well. */
export interface ReconcileDependencies extends BundleDeploymentDependencies {
  readonly rendered: RenderedObjects;
  readonly lastApplied: LastApplied;
  readonly plans: PlanMemory;
}
