# cmake -DFOLDER=... -DPATTERN=*.[hc] -DHEADER=... -DFUNCTION=a::b::files -DOUTPUT=... -P embed.cmake: the files of a folder
# as a C++ source that has them as texts, which FUNCTION gives by their names; HEADER declares it. -DALSO=... is one more file.
file(GLOB files RELATIVE ${FOLDER} ${FOLDER}/${PATTERN})
set(rows "")
foreach(file ${files} ${ALSO})
  get_filename_component(path ${file} ABSOLUTE BASE_DIR ${FOLDER})
  get_filename_component(name ${file} NAME)
  file(READ ${path} text)
  string(APPEND rows "{\"${name}\", R\"source(${text})source\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"${HEADER}\"

const std::map<std::string, std::string> &${FUNCTION}() {
  static const std::map<std::string, std::string> all = {
${rows}};
  return all;
}
")
