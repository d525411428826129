# cmake -DFOLDER=... -DOUTPUT=... -P embed.cmake: the C sources of a folder as a C++ source that has them as texts
# (generators/model/driver_source.h).
file(GLOB files RELATIVE ${FOLDER} ${FOLDER}/*.h ${FOLDER}/*.c)
set(rows "")
foreach(file ${files})
  file(READ ${FOLDER}/${file} text)
  string(APPEND rows "{\"${file}\", R\"source(${text})source\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"generators/model/driver_source.h\"

namespace saltern::generators {

const std::map<std::string, std::string> &driver_files() {
  static const std::map<std::string, std::string> all = {
${rows}};
  return all;
}

}  // namespace saltern::generators
")
