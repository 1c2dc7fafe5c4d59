export { announceUpload, findBundle } from './announce-upload.ts';
export { BundleReconciler } from './bundle-reconciler.ts';
export { ContentRestorer } from './content-restorer.ts';
export type { UnpackDependencies } from './dependencies.ts';
export { unresolvedNote } from './known-pin.ts';
export { SharedFetches } from './shared-fetches.ts';
export { SourceSecrets } from './source-secrets.ts';
export type { OwnPlaces } from './unpack-places.ts';
export { UnpackSlots } from './unpack-slots.ts';
