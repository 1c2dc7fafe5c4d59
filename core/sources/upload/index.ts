export { createUploadSource } from './upload-source.ts';
