export { type CABundleInjectionOptions, createCABundleInjection } from './ca-injection.ts';
export type { AdmissionValidator } from './review.ts';
export type { TrustedClients } from './review-handler.ts';
export type { BundleLister } from './reviewers/configmap.ts';
export {
  type AdmissionRouteOptions,
  admissionRoutes,
  type CrdRouteOptions,
  crdRoutes,
} from './routes.ts';
export { startWebhookServer, type WebhookServer } from './server.ts';
