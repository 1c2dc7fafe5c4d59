export { followFile, readAuthorities } from './client-authorities.ts';
export { imagePullerOptions } from './defaults/image-puller-options.ts';
export { openJudge } from './defaults/judge.ts';
export type { RegistryOptions } from './defaults/registry-options.ts';
export { settingsOf } from './defaults/settings.ts';
export { type OpenSources, openSources } from './defaults/sources.ts';
export {
  defaultContent,
  defaultHealthProbeBindAddress,
  defaultMemoryBudget,
  defaultWorkers,
} from './defaults/values.ts';
export type { ContentOptions, ManagerOptions, UploadOptions, Zone } from './options.ts';
export { runReconcilers } from './run-reconcilers.ts';
