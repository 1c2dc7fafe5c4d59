export {
  type ExtensionControllers,
  type ExtensionOptions,
  extensionControllers,
} from './controllers.ts';
