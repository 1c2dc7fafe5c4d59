export type {
  Bundle,
  CatalogReference,
  Channel,
  ChannelEntry,
  Deprecation,
  PackageContent,
  Property,
} from './package-content.ts';
