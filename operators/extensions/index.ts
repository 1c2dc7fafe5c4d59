export { chooseInline, requestOf, type Subject } from './choice/choose.ts';
export { Neighbours } from './choice/neighbours.ts';
export {
  type ExtensionControllers,
  type ExtensionOptions,
  extensionControllers,
} from './controllers.ts';
export { installationOf } from './deployment/installation.ts';
export type { ExtensionKind } from './extension.ts';
export type { Choice } from './findings.ts';
export { clusterExtensionKind } from './kinds/cluster-extension-kind.ts';
export { operatorKind } from './kinds/operator-kind.ts';
