export { followCertificateFiles, readCertificateFiles } from './certs/files.ts';
export { type CABundleInjectionOptions, createCABundleInjection } from './certs/inject.ts';
export { type CertificateRotation, createCertificateRotation } from './certs/rotation.ts';
export type { TrustedClients } from './clients.ts';
export type { ObjectClient, ObjectFollower, ObjectKey } from './cluster.ts';
export type { BundleLister } from './configmap.ts';
export type { AdmissionValidator } from './review.ts';
export {
  type AdmissionRouteOptions,
  admissionRoutes,
  type CrdRouteOptions,
  crdRoutes,
} from './routes.ts';
export { startWebhookServer, type WebhookServer } from './server.ts';
