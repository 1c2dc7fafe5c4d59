export { BundleDeploymentReconciler } from './bundle-deployment-reconciler.ts';
export {
  type CertificateOptions,
  type CertificateProvider,
  certificateProviders,
  defaultCertificates,
  shortestLifetime,
} from './certificates/certificate-options.ts';
export { Certificates } from './certificates/certificates.ts';
export { issuedByCertManager } from './certificates/providers/cert-manager.ts';
export { selfIssued } from './certificates/providers/self.ts';
export { issuedByServiceCA } from './certificates/providers/service-ca.ts';
export { wantedCertificates } from './certificates/wanted-certificates.ts';
export { creatorOfBundle } from './creator-of-bundle.ts';
export type { ContentLoader } from './dependencies.ts';
export { ClusterFactsReader } from './facts/cluster-facts.ts';
export { DeploymentSeeds } from './facts/deployment-seed.ts';
export { readInputs } from './facts/read-inputs.ts';
export { RenderFacts } from './facts/render-facts.ts';
export { isMadeFrom } from './is-made-from.ts';
export { LostContentError } from './lost-content-error.ts';
export { isOwn } from './own-bundles.ts';
export type { FullPlan } from './plan/full-plan.ts';
export { planCounts } from './plan/plan-message.ts';
export { parsePlan } from './plan/plan-secret.ts';
export { StoredPlans } from './plan/stored-plans.ts';
export { isRevision } from './revisions/history.ts';
export { keepTemplateManager } from './revisions/template-manager.ts';
export { isBroughtOut, wantedBundle } from './wanted-bundle.ts';
