export { creatorOfBundle, isRolledOut, wantedBundle } from './bundles.ts';
export {
  type CertificateOptions,
  type CertificateProvider,
  certificateProviders,
  defaultCertificates,
  shortestLifetime,
} from './certificates/certificate-options.ts';
export { Certificates } from './certificates/certificates.ts';
export { issuedByCertManager, issuedByServiceCA } from './certificates/issued-elsewhere.ts';
export { selfIssued } from './certificates/self-issued.ts';
export { wantedCertificates } from './certificates/wanted-certificates.ts';
export { type ContentLoader, LostContentError } from './dependencies.ts';
export { ClusterFactsReader } from './facts/cluster-facts.ts';
export { DeploymentSeeds } from './facts/deployment-seed.ts';
export { readInputs } from './facts/inputs.ts';
export { RenderFacts } from './facts/render-facts.ts';
export { type FullPlan, planCounts } from './plan/full-plan.ts';
export { parsePlan, StoredPlans } from './plan/stored-plans.ts';
export { BundleDeploymentReconciler } from './reconciler.ts';
export { keepTemplateManager } from './revisions/template-manager.ts';
export { sourceReader } from './source-reader.ts';
