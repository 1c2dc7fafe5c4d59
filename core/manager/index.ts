export { followFile, readAuthorities } from './client-authorities.ts';
export type {
  ContentOptions,
  ManagerOptions,
  RegistryOptions,
  UploadOptions,
  Zone,
} from './options.ts';
export { openJudge, runReconcilers } from './run-reconcilers.ts';
export {
  defaultContent,
  defaultHealthProbeBindAddress,
  defaultMemoryBudget,
  defaultWorkers,
  settingsOf,
} from './settings.ts';
export { imagePullerOptions, type OpenSources, openSources } from './sources.ts';
